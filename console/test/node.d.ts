// What the tests use of Node; its own types would be one more package.
declare module "node:test" {
  export function test(name: string, body: () => void | Promise<void>): void;
  export const mock: { timers: { enable(options: { apis: string[]; now?: number }): void; tick(milliseconds: number): void; reset(): void } };
}
declare function setImmediate(work: (value: unknown) => void): void;
declare module "node:assert/strict" {
  interface Assert {
    equal(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    ok(holds: unknown, message?: string): void;
    rejects(work: Promise<unknown>, error: (failed: unknown) => boolean): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}
