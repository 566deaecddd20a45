"use strict";
// Without scripts the button stays hidden and the code can be marked by hand.
(function () {
  var button = document.getElementById("copy");
  var code = document.getElementById("program");
  if (!button || !code) return;
  button.hidden = false;
  function mark() {
    var range = document.createRange();
    range.selectNodeContents(code);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }
  function say(text) {
    button.textContent = text;
    window.setTimeout(function () { button.textContent = "Copy"; }, 2000);
  }
  button.addEventListener("click", function () {
    if (navigator.clipboard) {
      navigator.clipboard.writeText(code.textContent).then(
        function () { say("Copied"); },
        function () { mark(); say("Marked: copy it now"); }
      );
    } else {
      mark();
      say("Marked: copy it now");
    }
  });
})();
