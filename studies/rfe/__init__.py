"""Extensions of SVM-RFE."""
