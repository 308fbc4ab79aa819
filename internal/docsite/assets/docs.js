// Adds a button to each block of code that copies it. Browsers offer the clipboard only
// to pages that came over TLS or from this machine.
if (navigator.clipboard) {
  for (const code of document.querySelectorAll("pre:not(.output)")) {
    const frame = document.createElement("div");
    frame.className = "copy";
    code.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent.trimEnd());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    frame.append(code, button);
  }
}
