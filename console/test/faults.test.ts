import assert from "node:assert/strict";
import { test } from "node:test";
import "./page";
import { ApiError } from "../src/api";
import { sentence } from "../src/faults";

function told(message: string, ...fields: string[]): string {
  const faults = fields.map((field) => ({ field, message: "is required" }));
  return sentence(new ApiError(400, "validation_failed", message, "", faults));
}

test("a place that is missing is one fault", () => {
  assert.equal(told("5 fields are not valid", "name", "location.lat", "location.lng", "device.ssid", "device.mac_address"), "4 fields are not valid");
  assert.equal(told("2 fields are not valid", "location.lat", "location.lng"), "The location is required");
});

test("all else is told as the server has it", () => {
  assert.equal(told("2 fields are not valid", "name", "device.ssid"), "2 fields are not valid");
  assert.equal(told("location.lng is required", "location.lng"), "location.lng is required");
  assert.equal(told("the hotspot was changed"), "the hotspot was changed");
});
