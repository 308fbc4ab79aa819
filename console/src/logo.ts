// Makes a logo of a file that someone chose: what the server takes, and small enough.

const most = 40 << 10; // bytes, as the server has it
const sides = [512, 256, 128]; // pixels to try, for pictures that are too large

/** The file as a data URL. Pictures become PNG, and smaller if they must. */
export async function logoFrom(file: File): Promise<string> {
  if (file.type === "image/svg+xml") return read(file);
  const picture = await createImageBitmap(file);
  if (file.type === "image/png" && file.size <= most && Math.max(picture.width, picture.height) <= 1024) return read(file);
  let smallest = file as Blob;
  for (const side of sides) {
    smallest = await scaled(picture, side);
    if (smallest.size <= most) break;
  }
  return read(smallest);
}

async function scaled(picture: ImageBitmap, side: number): Promise<Blob> {
  const factor = Math.min(1, side / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * factor));
  canvas.height = Math.max(1, Math.round(picture.height * factor));
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error()))));
}

function read(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error());
    reader.readAsDataURL(blob);
  });
}
