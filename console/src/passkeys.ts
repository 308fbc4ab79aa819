// Passkeys, between what the server says as JSON and what browsers take: bytes.
import { ApiError } from "./api";
import { t } from "./messages";

/** A ceremony that the server began. */
export interface Ceremony {
  ceremony: string;
  options: { publicKey?: unknown };
}

/** Whether the page came over https, or from this machine: elsewhere no browser keeps the session of a person. */
export const isSecure = (): boolean => globalThis.isSecureContext;

/** Whether this browser can do it at all, on this page: others than https and localhost cannot. */
export const canPasskeys = (): boolean => isSecure() && "PublicKeyCredential" in globalThis && "credentials" in navigator;

export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

export function toText(bytes: ArrayBuffer): string {
  const binary = [...new Uint8Array(bytes)].map((byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

interface Descriptor {
  id: string;
  type: "public-key";
}

const known = (all: Descriptor[] | undefined) => (all ?? []).map((one) => ({ ...one, id: toBytes(one.id) }));

/** Has the device make a passkey. Its person sees to that; whoever gives up is told so. */
export async function make({ options }: Ceremony): Promise<unknown> {
  const asked = (options.publicKey ?? options) as { challenge: string; user: { id: string }; excludeCredentials?: Descriptor[] };
  const publicKey = { ...asked, challenge: toBytes(asked.challenge), user: { ...asked.user, id: toBytes(asked.user.id) }, excludeCredentials: known(asked.excludeCredentials) };
  const made = await byHand(() => navigator.credentials.create({ publicKey: publicKey as unknown as PublicKeyCredentialCreationOptions }));
  const response = made.response as AuthenticatorAttestationResponse;
  return {
    ...head(made),
    response: { clientDataJSON: toText(response.clientDataJSON), attestationObject: toText(response.attestationObject), transports: response.getTransports?.() ?? [] },
  };
}

/** Whether the browser can offer passkeys among what it fills in. */
export async function fillsIn(): Promise<boolean> {
  return canPasskeys() && !!(await PublicKeyCredential.isConditionalMediationAvailable?.());
}

/** Has the device prove that its person is there: at once, or until the signal when they choose a passkey among what the browser fills in. */
export async function use({ options }: Ceremony, until?: AbortSignal): Promise<unknown> {
  const asked = (options.publicKey ?? options) as { challenge: string; allowCredentials?: Descriptor[] };
  const publicKey = { ...asked, challenge: toBytes(asked.challenge), allowCredentials: known(asked.allowCredentials) };
  const used = await byHand(() => navigator.credentials.get({ publicKey: publicKey as unknown as PublicKeyCredentialRequestOptions, ...(until && { mediation: "conditional", signal: until }) }));
  const response = used.response as AuthenticatorAssertionResponse;
  return {
    ...head(used),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle && { userHandle: toText(response.userHandle) }),
    },
  };
}

const head = (credential: PublicKeyCredential) => ({
  id: credential.id,
  rawId: toText(credential.rawId),
  type: credential.type,
  authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
  clientExtensionResults: credential.getClientExtensionResults(),
});

async function byHand(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential) return credential as PublicKeyCredential;
  } catch (error) {
    // Browsers tell little, for the sake of whoever sits there: it was given up, took too long, or there is none.
    if (error instanceof DOMException && error.name === "InvalidStateError") throw new ApiError(0, "passkey", t.passkeys.there, "");
  }
  throw new ApiError(0, "passkey", t.passkeys.givenUp, "");
}

/** What a passkey made here may be called, by the device it is on. */
export function deviceName(agent = globalThis.navigator?.userAgent ?? ""): string {
  const systems: [RegExp, string][] = [
    [/iPhone/, "iPhone"],
    [/iPad/, "iPad"],
    [/Android/, "Android"],
    [/Mac OS X/, "Mac"],
    [/Windows/, "Windows"],
    [/CrOS/, "Chromebook"],
    [/Linux/, "Linux"],
  ];
  return systems.find(([pattern]) => pattern.test(agent))?.[1] ?? "";
}
