// The colour of the network as text can have it. The server decides (color.go of package
// beacon); this shows it while a colour is being chosen. Both are tested with the same examples.

const white = [255, 255, 255];
const black = [0, 0, 0];
const readable = 4.5;

export interface Shades {
  light: string; // on light pages
  dark: string;
  on: string; // what stands on the colour itself
}

const parts = (colour: string): number[] => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const written = (rgb: number[]): string => `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

function luminance(rgb: number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [less = 0, more = 0] = [luminance(parts(a)), luminance(parts(b))].sort((x, y) => x - y);
  return (more + 0.05) / (less + 0.05);
}

/** Mixes in another colour, by hundredths, until the contrast to the ground is enough. */
function until(colour: string, other: number[], ground: string): string {
  let shade = colour;
  for (let hundredths = 0; hundredths <= 100 && contrast(shade, ground) < readable; hundredths++) {
    const part = hundredths / 100;
    shade = written(parts(colour).map((value, i) => Math.round(value * (1 - part) + (other[i] ?? 0) * part)));
  }
  return shade;
}

export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

export function shadesOf(colour: string): Shades {
  const on = contrast(colour, written(white)) >= contrast(colour, written(black)) ? white : black;
  return { light: until(colour, black, "#f3f5f8"), dark: until(colour, white, "#171f29"), on: written(on) };
}
