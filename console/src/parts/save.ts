/** Gives the browser a file to keep. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export const saveCSV = (name: string, text: string): void => save(name, new Blob([text], { type: "text/csv" }));
