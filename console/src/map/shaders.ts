// The programs that a graphics card runs for the shapes of shapes.ts.

/** The pixels of the screen within which distances to an edge are told apart. */
const reach = 6;

/** Draws the distance to the edge of each disc. */
export const discs = {
  vertex: `#version 300 es
    uniform mat4 to_clip;
    uniform float pixels; // that the width of the world has
    in vec2 corner;
    in vec4 disc;
    out vec2 from_middle;
    flat out float radius;
    flat out int status;
    void main() {
      radius = disc.z * pixels;
      status = int(disc.w);
      from_middle = corner * (radius + ${reach}.0);
      gl_Position = to_clip * vec4(disc.xy + from_middle / pixels, 0.0, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec2 from_middle;
    flat in float radius;
    flat in int status;
    out vec4 inside;
    void main() {
      float part = clamp(0.5 + (radius - length(from_middle)) / ${2 * reach}.0, 0.0, 1.0);
      inside = vec4(0.0);
      if (status == 0) inside.r = part;
      else if (status == 1) inside.g = part;
      else inside.b = part;
    }`,
};

/** Colours the greatest distances: first what matters most. */
export const colouring = {
  vertex: `#version 300 es
    in vec2 corner;
    out vec2 at;
    void main() {
      at = corner * 0.5 + 0.5;
      gl_Position = vec4(corner, 0.0, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    uniform sampler2D picture;
    uniform float wide; // pixels of the screen that a pixel of the page has
    uniform vec3 colours[3];
    uniform vec2 opacities[3];
    in vec2 at;
    out vec4 colour;
    void main() {
      vec3 distances = (texture(picture, at).rgb - 0.5) * ${2 * reach}.0;
      colour = vec4(0.0);
      float covered = 0.0; // by a shape that matters more
      for (int i = 0; i < 3; i++) {
        float inside = clamp(distances[i] + 0.5, 0.0, 1.0);
        float edge = inside * clamp(1.25 * wide - distances[i] + 0.5, 0.0, 1.0);
        float a = mix(inside * opacities[i].x, opacities[i].y, edge) * (1.0 - covered);
        colour += vec4(colours[i] * a, a);
        covered = max(covered, inside);
      }
    }`,
};
