"""What is known of every data set: file, checksum, source, citation, licence, caveats."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

RIGHTS = (
    "A licence of a repository or package covers its copy; the rights in the data themselves "
    "were not looked into."
)


@dataclass(frozen=True)
class Download:
    """Public files from which the arrays of a set are rebuilt.

    Attributes
    ----------
    files : tuple of str
        Paths ``owner/name/commit/path`` below GitHub's server of raw files.
    build : str
        Name of the function in `mercer.datasets._rebuild` that makes the arrays.
    content : str
        Checksum of the arrays, see `mercer.datasets._store.content_checksum`.
    part : str
        What the function shall take from the files, where they hold more.
    keep : bool
        Whether the files hold several sets, and are kept for the others.
    """

    files: tuple[str, ...]
    build: str
    content: str
    part: str = ""
    keep: bool = False


@dataclass(frozen=True)
class DataSet:
    """One data set.

    Attributes
    ----------
    file : str
        Path below the folder that ``MERCER_DATA`` names.
    sha256 : str
        Checksum of that file.
    title, source, citation, licence : str
    caveats : tuple of str
        What one must know before drawing conclusions from the set.
    download : Download
        How to get it without the folder.
    """

    file: str
    sha256: str
    title: str
    source: str
    citation: str
    licence: str
    caveats: tuple[str, ...]
    download: Download

    def describe(self) -> str:
        """Return everything above as text, for `DESCR`."""
        parts = [self.title]
        parts += [f"Source: {self.source}", f"Citation: {self.citation}"]
        parts += [f"Licence: {self.licence}. {RIGHTS}"]
        if self.caveats:
            parts.append("Things to know:\n" + "\n".join(f"- {line}" for line in self.caveats))
        return "\n\n".join(parts) + "\n"


_IDA = {
    "banana": (
        "3338b0122679eecc05409d82e3b6a1335079b544b5fa21ef107054d38742ef3d",
        "57b2f07d30ecc69920cc4bb9b6422fa37e07d8df59eff9a5aee731c0ca97ccf7",
        "two-dimensional artificial data",
    ),
    "breast-cancer": (
        "2b5c7843324d30adaadb983215e4ed104f9a8850a562c81ec76aa4792ad8ce7e",
        "c2d0acf6b17fcc745e655587de1964f9c2e65520b8adf0f71709dd2550eb28f0",
        "Ljubljana breast cancer (UCI)",
    ),
    "diabetis": (
        "7d5a1ab2ac78ac5b1d3754f7dd9547a41c020e88ca583e765e3da02aff0021b9",
        "69ee7d2c8ba1cf07b610b57bc04b471f22cc0820c65c51d3b161a628ce8e8d58",
        "Pima diabetes (UCI); the benchmark spells it so",
    ),
    "flare-solar": (
        "0435cf1251086739e6c9032d3fe5d581128eb433236f035ded129a2ddde53ffb",
        "a57080bb633c6e64e1c3bf55554d4167a2a63d90329bad40eb9c69cf98d58828",
        "solar flares (UCI), coded as integers",
    ),
    "german": (
        "2308c6cf01fb7e4e26612004b58080b7efcac2af6ef14dd60936444f4a252d41",
        "38ecc0a8e7d9d7922591d51684308925912fe1760f7ef6e0bc54a69b203e2b94",
        "German credit (Statlog)",
    ),
    "heart": (
        "39adf0cf286117a4da83f76c4b04451e5f16e7ee6014378dde32aa856e1cb000",
        "c088bb145c15ac3ecba726b1892e6f2f1491278b3524339394324d18f39279f7",
        "heart disease (Statlog)",
    ),
    "image": (
        "4addaab60d1525d1746872524084cda66703f5b624648ea52ebbe6d1811bd28c",
        "43f37ea832e54d08e091b919ca12bcbdc156b521defc9ed29ac7bce7e830b9a5",
        "image segmentation (Statlog, UCI), made binary",
    ),
    "splice": (
        "6a63f85df9eccd0c65dd3c53909829babe1364a343b68c41bf3ebb19d0a4dec9",
        "a3649204673bca8f0c750c067ecc79e11a3759c3916c0d6e27828406dfe91ff4",
        "splice junctions (UCI, DELVE), nucleotides coded as the numbers 1 to 4",
    ),
    "thyroid": (
        "6cf47366786eafc8b71d9c6d53bdef7d64b3f88435d1dc7b2a3bd16fd7cb7a78",
        "907e336962e67b3c7c5cdc9b30e1c48d3628a8e89d21dc20a74f505d7ccb95ce",
        "new-thyroid (UCI), made binary",
    ),
    "titanic": (
        "2f0da3ecba76214c86c0420987039f33e6c5a894fd66d4586a690859f00a281e",
        "fcc326e92156b9f0ceb6613fe18929ba0f718c335f40da9286cff6f0e1ceccc0",
        "survivors of the Titanic (DELVE), three attributes",
    ),
}

_IDA_CAVEATS = (
    "Not all splits differ: 80 of 100 are distinct in banana, diabetis, german and heart, 87 in "
    "flare-solar, 99 in thyroid, 15 of 20 in image, all in breast-cancer, splice and titanic. Take "
    "`distinct_splits` for standard errors: deviation / sqrt(100) is too small by about 15 % where "
    "20 splits come twice.",
    "Equal rows are frequent in breast-cancer, flare-solar, image, splice and titanic, so that the "
    "same pattern is often in both parts of a split; some patterns carry both labels.",
    "Rows are sorted by their values: shuffle before cutting them into folds.",
    "Most columns have mean 0 and deviation 1 over all rows, test rows included, as the source "
    "gives them; flare-solar and splice are small integers.",
)


def _ida(name: str, sha256: str, content: str, what: str) -> DataSet:
    return DataSet(
        f"ida/{name}.npz",
        sha256,
        f"IDA benchmark, {name}: {what}; two classes, predefined splits.",
        "tdiethe/gunnar_raetsch_benchmark_datasets on GitHub, benchmarks.mat",
        "G. Rätsch, T. Onoda, K.-R. Müller, Soft margins for AdaBoost, Machine Learning 42, 2001",
        "MIT for the collection; data of UCI, DELVE, Statlog",
        _IDA_CAVEATS,
        Download(
            ("tdiethe/gunnar_raetsch_benchmark_datasets/master/benchmarks.mat",),
            "ida",
            content,
            part=name,
            keep=True,
        ),
    )


_GOLUB = DataSet(
    "golub.npz",
    "887553bd25d5e043d89c1f288de2a63633b61fd01b2842b95cde7dbe68a9c3e0",
    "Leukaemia: 7129 raw Affymetrix values of 72 patients, ALL (-1) or AML (+1); 38 patients to "
    "learn from, 34 to test on.",
    "jhcui18/Leukemia_classifier on GitHub, commit c1adb97",
    "T. R. Golub et al., Molecular classification of cancer, Science 286, 1999",
    "not stated",
    ("Selecting genes before splitting makes every error estimate too good.",),
    Download(
        tuple(
            f"jhcui18/Leukemia_classifier/c1adb976376075b2c5e38407e0f58529e7be8924/{file}"
            for file in (
                "data_set_ALL_AML_train.csv",
                "data_set_ALL_AML_independent.csv",
                "actual.csv",
            )
        ),
        "golub",
        "bdd4074987b81efd0075eb8af38fa8c4c65e3d186f2d73ace8ee075b4885e305",
    ),
)

_COLON = DataSet(
    "colon.npz",
    "9d865b6b11ec91703b5c9cf9d653e86b7c4f91f54c2baf8e2546e621b2282ecb",
    "Colon cancer: 2000 raw intensities of 62 tissues, normal (-1) or tumour (+1).",
    "lata1207/DMD_Clustering on GitHub, I2000.txt, tissue.txt and names.txt at commit 7d5dd7e",
    "U. Alon et al., Broad patterns of gene expression revealed by clustering analysis of tumor "
    "and normal colon tissues, PNAS 96, 1999",
    "MIT (repository); not stated for the data",
    (
        "22 of the 40 tumours have a normal sample of the same patient, so that leave-one-out is "
        "not independent; `tissue` holds the original code: negative is tumour, the absolute value "
        "is the patient.",
        "89 of the clone names and 9 of the columns come twice.",
    ),
    Download(
        tuple(
            f"lata1207/DMD_Clustering/7d5dd7e591a3751b36230db3fb471634144de277/{file}"
            for file in ("I2000.txt", "tissue.txt", "names.txt")
        ),
        "colon",
        "be954ae639c7fb60a85809c4ba732d3e3d88aa43ca088c9a6e96818c305c7a23",
    ),
)

_MADELON = DataSet(
    "madelon.npz",
    "0668970c22ebfd15685fb297bf31a8ebada0b6066c445fbe82d0a75022daeac8",
    "MADELON of the NIPS 2003 challenge: 500 features, of which 20 carry information on a five-"
    "dimensional XOR; 2000 rows to learn from, 600 to validate.",
    "asalazar18s/DM4 on GitHub, commits cd0c1ce and 21caabf; labels of the training part: "
    "ericdasse28/online-learning, commit 9413bf5",
    "I. Guyon, S. Gunn, A. Ben-Hur, G. Dror, Result analysis of the NIPS 2003 feature selection "
    "challenge, NIPS 17, 2004",
    "CC BY 4.0 (UCI)",
    ("The labels of the challenge's test part are not public; 'test' is its validation part.",),
    Download(
        (
            "asalazar18s/DM4/cd0c1ce/madelon_train.data",
            "ericdasse28/online-learning/9413bf5/madelon_train.labels",
            "asalazar18s/DM4/21caabfd7b8a6fb9dfb4ee0911938cafa2bc5407/madelon_valid.data",
            "asalazar18s/DM4/21caabfd7b8a6fb9dfb4ee0911938cafa2bc5407/madelon_valid.labels",
        ),
        "madelon",
        "e4b8453377047a2ba665fad1352fdaadd6eb0aeb0f14f1ac3fe66e1e5944b6bf",
    ),
)

_HEMOPHILIA = DataSet(
    "hemophilia.csv",
    "c519880238ba44a3c24ec52bddea3d181d8d20f16837d28f952ce5c12332998f",
    "Carriers of haemophilia A: log10 of AHF activity and of AHF-like antigen of 30 normal women "
    "and 45 carriers.",
    "valentint/rrcov on GitHub, data/hemophilia.rda at commit e82c9bb",
    "J. D. F. Habbema, J. Hermans, K. van den Broek, A stepwise discriminant analysis program "
    "using density estimation, Compstat 1974",
    "GPL (>= 3) (package)",
    (),
    Download(
        ("valentint/rrcov/e82c9bb3a44a646c1e6061b18e5be90f57749c3e/data/hemophilia.rda",),
        "r_table",
        "f8378fea39a01d36ea1ed5b00b4a6c35b48e20e02ada42b0cde5dfb416a0eae7",
        part="hemophilia",
    ),
)

_SAHEART = DataSet(
    "saheart.csv",
    "82d9144a01e87336992259137c28bca747ea1af0352309c1a72fad04de712181",
    "Coronary heart disease (1) or not (0) of 462 men of the Western Cape, nine risk factors.",
    "cran/ElemStatLearn on GitHub, data/SAheart.RData at commit 253e540",
    "J. E. Rousseauw et al., Coronary risk factor screening in three rural communities, South "
    "African Medical Journal 64, 1983; T. Hastie, R. Tibshirani, J. Friedman, The Elements of "
    "Statistical Learning",
    "GPL (>= 2) (package)",
    (
        "`famhist` is 1 where the family has a history of the disease (192 men); public copies "
        "that are already coded as numbers disagree on which is 1.",
    ),
    Download(
        ("cran/ElemStatLearn/253e540/data/SAheart.RData",),
        "r_table",
        "1415f7595710c2c5a2f0c13dda1be888704bf1b69468e7ac344ae2824bbd4281",
        part="SAheart",
    ),
)

_WINEQUALITY = DataSet(
    "winequality-red.csv",
    "7d246d4b4b648f536ad563e90c936b3ce80b874fb8d6d2a24586f91f0daf7176",
    "Quality (3 to 8) of 1599 Portuguese red wines, eleven physicochemical measurements.",
    "glebmikha/data-science-project-template on GitHub, data/winequality-red.csv at commit 73715fd",
    "P. Cortez et al., Modeling wine preferences by data mining from physicochemical properties, "
    "Decision Support Systems 47, 2009",
    "CC BY 4.0 (UCI)",
    ("240 rows repeat an earlier row, as in the original.",),
    Download(
        ("glebmikha/data-science-project-template/73715fd/data/winequality-red.csv",),
        "table",
        "1a25028e0d543012b3a0bd68da96fae15509001b4b9790330200fbd2e957f05b",
    ),
)

_USPS = DataSet(
    "usps.npz",
    "f1bb1152668d3eb5cea112add51007550990e5b55d658fb17d0500e2b28de216",
    "Handwritten digits of the US postal service, 16 x 16 grey values in [-1, 1]; 7291 to learn "
    "from, 2007 to test on.",
    "cran/ElemStatLearn on GitHub, data/zip.train.RData and data/zip.test.RData at commit 253e540",
    "Y. LeCun et al., Handwritten digit recognition with a back-propagation network, NIPS 2, 1990",
    "GPL (>= 2) (package)",
    ("The test digits are harder than the others: nearest neighbours err on 5.6 %.",),
    Download(
        (
            "cran/ElemStatLearn/253e540/data/zip.train.RData",
            "cran/ElemStatLearn/253e540/data/zip.test.RData",
        ),
        "usps",
        "f6e712f40cdc67d68dbd9b016e1ef0dfb9350cf6b150fba073651c4466a9b52a",
    ),
)

_LETTER = DataSet(
    "speed/letter.npz",
    "63d6855a74fbd6a21e6cf9f3b481a7686559e136a68038eb1e66c26c2ef6c3e6",
    "Letter recognition: 20000 capital letters in 20 fonts, 16 integer features, 26 classes; by "
    "custom the first 16000 rows are for learning.",
    "davidgasquez/letter-recognition on GitHub, letter-recognition.data at commit fe3c483",
    "P. W. Frey, D. J. Slate, Letter recognition using Holland-style adaptive classifiers, "
    "Machine Learning 6, 1991",
    "CC BY 4.0 (UCI)",
    (),
    Download(
        ("davidgasquez/letter-recognition/fe3c483/letter-recognition.data",),
        "letter",
        "4f201b13b0c923556aee23287ae657db2f07c312d51bf9be1fa63666aec5c128",
    ),
)

_A9A = DataSet(
    "speed/a9a.npz",
    "c4d0664904b57c8036a794038a82c39a496e6a503694d9754117b93c93208472",
    "Adult census in 123 binary features: income above 50000 dollars (+1) or not (-1); 32561 rows "
    "to learn from, 16281 to test on.",
    "X-DataInitiative/tick-datasets on GitHub, binary/adult at commit 9d959b6",
    "J. Platt, Fast training of support vector machines using sequential minimal optimization, "
    "1998; UCI Adult",
    "BSD-3-Clause (repository); CC BY 4.0 (UCI Adult)",
    (
        "7614 training and 2568 test rows repeat an earlier one; the last column is zero in the "
        "test part.",
    ),
    Download(
        (
            "X-DataInitiative/tick-datasets/9d959b6/binary/adult/adult.trn.bz2",
            "X-DataInitiative/tick-datasets/9d959b6/binary/adult/adult.tst.bz2",
        ),
        "a9a",
        "3927169b4c45f47a0abfb4f396b980af5b14b69e2f121b41d3302e4ed5fc5605",
    ),
)

_IJCNN1 = DataSet(
    "speed/ijcnn1.npz",
    "7d761a512ada02e3998444a8ed332f1c0d0b377e9941c41ed0b84a71b1d68900",
    "IJCNN 2001 challenge: 22 features of a time series, 9.7 % in class +1; 49990 rows to learn "
    "from, 91701 to test on.",
    "X-DataInitiative/tick-datasets on GitHub, binary/ijcnn1 at commit 9d959b6",
    "D. Prokhorov, IJCNN 2001 neural network competition, 2001; C.-C. Chang, C.-J. Lin, IJCNN 2001 "
    "challenge: generalization ability and text decoding, IJCNN 2001",
    "BSD-3-Clause (repository); not stated for the data",
    (
        "The rows are a time series in order: the first 15000 alone teach only the majority class, "
        "10000 random ones reach about 98 %.",
    ),
    Download(
        (
            "X-DataInitiative/tick-datasets/9d959b6/binary/ijcnn1/ijcnn1.trn.bz2",
            "X-DataInitiative/tick-datasets/9d959b6/binary/ijcnn1/ijcnn1.tst.bz2",
        ),
        "ijcnn1",
        "aff15934b6e504d6ba188e75c3b974f2a77d475a5de19f0da4aa76da7500ac2b",
    ),
)

_ADBENCH = (
    "S. Han et al., ADBench: anomaly detection benchmark, NeurIPS 2022; ODDS; UCI",
    "BSD-2-Clause (ADBench)",
)

_CARDIO = DataSet(
    "anomaly/cardio.npz",
    "2349d18311351e10a7bc0c9abb7c6fa13b3be72cf656f01b3d880d0140967edb",
    "Cardiotocograms, ODDS form: 1831 rows of 21 standardised features, 176 outliers (1).",
    "Minqi824/ADBench on GitHub, adbench/datasets/Classical/6_cardio.npz at commit 3dac822",
    *_ADBENCH,
    ("All outliers stand at the end; 9 rows repeat an earlier one.",),
    Download(
        ("Minqi824/ADBench/3dac822/adbench/datasets/Classical/6_cardio.npz",),
        "cardio",
        "fd5d99e0a54fd6622d8f9f971d93f30f3517cbe642b5947d1dee3b3773b7080c",
    ),
)

_SHUTTLE = DataSet(
    "anomaly/shuttle.npz",
    "8d0edce89d7e36e2612f16c9d1375fa92db3104e0a1e13efc9a182d131d766ee",
    "Statlog shuttle, ODDS form: 49097 rows of nine features, 3511 outliers (1).",
    "Minqi824/ADBench on GitHub, adbench/datasets/Classical/32_shuttle.npz at commit 3dac822",
    *_ADBENCH,
    (),
    Download(
        ("Minqi824/ADBench/3dac822/adbench/datasets/Classical/32_shuttle.npz",),
        "shuttle",
        "256bc7ef887eea486c46d646c2cd6d9bb75526fa9378f08f98c24507d4b02a8d",
    ),
)

DATASETS = MappingProxyType(
    {
        **{f"ida/{name}": _ida(name, *known) for name, known in _IDA.items()},
        "golub": _GOLUB,
        "colon": _COLON,
        "madelon": _MADELON,
        "hemophilia": _HEMOPHILIA,
        "saheart": _SAHEART,
        "winequality": _WINEQUALITY,
        "usps": _USPS,
        "letter": _LETTER,
        "a9a": _A9A,
        "ijcnn1": _IJCNN1,
        "cardio": _CARDIO,
        "shuttle": _SHUTTLE,
    }
)
"""Every data set by name."""

IDA_NAMES = tuple(_IDA)
"""The ten sets of the IDA benchmark that `load_ida` knows."""
