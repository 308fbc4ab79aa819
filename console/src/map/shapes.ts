// The ground that hotspots cover: one shape for each status, however many discs it is made
// of. Of many circles, a map would add up the opacities and show the edges of all. Here
// each pixel takes the greatest of the distances to the edges of the discs around it, which
// is its distance to the edge of their union, first into a picture of its own; then the
// picture is coloured. So the union is exact at each zoom, and no server computes one.
import type { CustomLayerInterface, CustomRenderMethodInput, Map as LibreMap } from "maplibre-gl";
import { mercator, numbers, packDiscs, statuses, type Spot } from "./discs";
import { colouring, discs } from "./shaders";
import type { Theme } from "./theme";

/** Below it, discs would be specks. */
const discZoom = 13;
/** Of the picture: distances between its pixels are nearly linear, so half is enough. */
const scale = 0.5;

/** How much a shape hides of what is below it: its inside, and its edge. */
const opacity = { online: [0.2, 0.75], pending: [0.1, 0.6], offline: [0.07, 0.5] } as const;

function compile(gl: WebGL2RenderingContext, { vertex, fragment }: { vertex: string; fragment: string }): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader); // once the program is
  }
  gl.bindAttribLocation(program, 0, "corner");
  gl.bindAttribLocation(program, 1, "disc");
  gl.linkProgram(program);
  return program;
}

/** What the card keeps. */
class Drawing {
  readonly #gl: WebGL2RenderingContext;
  readonly #discs: WebGLProgram;
  readonly #colouring: WebGLProgram;
  readonly #corners: WebGLBuffer;
  readonly #data: WebGLBuffer;
  readonly #array: WebGLVertexArrayObject;
  readonly #picture: WebGLTexture;
  readonly #frame: WebGLFramebuffer;
  #width = 0;
  #height = 0;
  #count = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#discs = compile(gl, discs);
    this.#colouring = compile(gl, colouring);
    this.#corners = gl.createBuffer();
    this.#data = gl.createBuffer();
    this.#array = gl.createVertexArray();
    this.#picture = gl.createTexture();
    this.#frame = gl.createFramebuffer();
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#data);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, numbers, gl.FLOAT, false, 0, 0);
    gl.vertexAttribDivisor(1, 1);
    gl.bindVertexArray(null);
  }

  fill(packed: Float32Array): void {
    const gl = this.#gl;
    this.#count = packed.length / numbers;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#data);
    gl.bufferData(gl.ARRAY_BUFFER, packed, gl.DYNAMIC_DRAW);
  }

  /** Draws the distances into the picture. */
  measure(toClip: Float32Array, pixels: number): void {
    const gl = this.#gl;
    this.#fit(Math.ceil(gl.drawingBufferWidth * scale), Math.ceil(gl.drawingBufferHeight * scale));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#frame);
    gl.viewport(0, 0, this.#width, this.#height);
    for (const test of [gl.DEPTH_TEST, gl.STENCIL_TEST, gl.SCISSOR_TEST, gl.CULL_FACE]) gl.disable(test);
    gl.colorMask(true, true, true, true);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.#count === 0) return;
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.MAX);
    gl.useProgram(this.#discs);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.#discs, "to_clip"), false, toClip);
    gl.uniform1f(gl.getUniformLocation(this.#discs, "pixels"), pixels);
    gl.bindVertexArray(this.#array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#count);
    gl.bindVertexArray(null);
    gl.blendEquation(gl.FUNC_ADD);
  }

  /** Draws what was measured over the map. */
  colour(t: Theme, wide: number): void {
    if (this.#count === 0) return;
    const gl = this.#gl;
    const at = (name: string) => gl.getUniformLocation(this.#colouring, name);
    gl.useProgram(this.#colouring);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.#picture);
    gl.uniform1i(at("picture"), 0);
    gl.uniform1f(at("wide"), wide);
    gl.uniform3fv(at("colours"), statuses.flatMap((status) => parts(t[status])));
    gl.uniform2fv(at("opacities"), statuses.flatMap((status) => opacity[status]));
    gl.bindVertexArray(this.#array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(null);
  }

  #fit(width: number, height: number): void {
    if (width === this.#width && height === this.#height) return;
    [this.#width, this.#height] = [width, height];
    const gl = this.#gl;
    gl.bindTexture(gl.TEXTURE_2D, this.#picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR],
      [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ] as const)
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.#picture, 0);
  }

  close(): void {
    const gl = this.#gl;
    for (const program of [this.#discs, this.#colouring]) gl.deleteProgram(program);
    for (const buffer of [this.#corners, this.#data]) gl.deleteBuffer(buffer);
    gl.deleteVertexArray(this.#array);
    gl.deleteTexture(this.#picture);
    gl.deleteFramebuffer(this.#frame);
  }
}

/** Red, green and blue of a colour such as #1b7f4d, from 0 to 1. */
function parts(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
}

/** A layer of the map with the shapes of what a source of tiles has. */
export class Shapes implements CustomLayerInterface {
  readonly id = "discs";
  readonly type = "custom";
  readonly #source: string;
  readonly #theme: () => Theme;
  #map: LibreMap | undefined;
  #drawing: Drawing | undefined;
  #middle: Spot = [0, 0]; // that what the card has is counted from
  #tiles = ""; // which are in sight; empty: there is something new in them

  constructor(source: string, theme: () => Theme) {
    this.#source = source;
    this.#theme = theme;
  }

  readonly #renewed = ({ sourceId }: { sourceId: string }): void => {
    if (sourceId === this.#source) this.#tiles = "";
  };

  onAdd(map: LibreMap, gl: WebGL2RenderingContext): void {
    this.#map = map;
    this.#drawing = new Drawing(gl);
    map.on("sourcedata", this.#renewed);
  }

  onRemove(map: LibreMap): void {
    map.off("sourcedata", this.#renewed);
    this.#drawing?.close();
    this.#drawing = undefined;
  }

  #shown(): boolean {
    return this.#map !== undefined && this.#map.getZoom() >= discZoom;
  }

  prerender(_: WebGL2RenderingContext, { defaultProjectionData }: CustomRenderMethodInput): void {
    if (!this.#shown()) return;
    this.#collect(this.#map!);
    const [x, y] = this.#middle;
    const m = [...defaultProjectionData.mainMatrix] as number[];
    for (let row = 0; row < 4; row++) m[12 + row]! += m[row]! * x + m[4 + row]! * y;
    const pixels = 512 * 2 ** this.#map!.getZoom() * this.#map!.getPixelRatio();
    this.#drawing?.measure(new Float32Array(m), pixels);
  }

  render(): void {
    if (this.#shown()) this.#drawing?.colour(this.#theme(), this.#map!.getPixelRatio());
  }

  /** Hands the card what is in sight, if that is not what it has. */
  #collect(map: LibreMap): void {
    const size = 2 ** Math.floor(map.getZoom());
    const box = map.getBounds();
    const corners = [mercator(box.getNorth(), box.getWest()), mercator(box.getSouth(), box.getEast())];
    const tiles = [size, ...corners.flatMap(([x, y]) => [Math.floor(x * size), Math.floor(y * size)])].join();
    if (tiles === this.#tiles) return;
    this.#tiles = tiles;
    const { lat, lng } = map.getCenter();
    this.#middle = mercator(lat, lng);
    this.#drawing?.fill(packDiscs(map.querySourceFeatures(this.#source, { sourceLayer: "hotspots" }), this.#middle));
  }
}
