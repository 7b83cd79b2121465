// Buttons that copy the text beside them. Without script there are none.

function offer() {
  for (const button of document.querySelectorAll(".copy > button[hidden]")) button.hidden = false;
}

document.addEventListener("click", async (e) => {
  const button = e.target.closest?.(".copy > button");
  if (!button) return;
  const text = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.dataset.done = "Copied";
  } catch {
    // Where a page may not write to the clipboard, it is a keystroke away.
    getSelection().selectAllChildren(text);
    button.dataset.done = "Press Ctrl+C";
  }
  setTimeout(() => delete button.dataset.done, 2000);
});

offer();
document.addEventListener("shown", offer);
