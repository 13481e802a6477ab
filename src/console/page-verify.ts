import { plainVerify } from '../core/cose/plain-verify.js';
import type { VerifySignature } from '../core/cose/signature.js';
import { webCryptoVerify } from '../core/cose/web-crypto-verify.js';

/** So long may checks in plain JavaScript hold up the page before it is painted again. */
const MOST_MS = 40;
let paintedAt = 0;

/** Checks in plain JavaScript, and lets the browser paint in between: the checks run where the page does. */
const unhurried: VerifySignature = async (...given) => {
  if (performance.now() - paintedAt > MOST_MS) {
    await new Promise((resume) => setTimeout(resume));
    paintedAt = performance.now();
  }
  return plainVerify(...given);
};

/** Whether the browser offers Web Crypto: not on a page that came over plain HTTP, except from this machine. */
export const hasWebCrypto = (): boolean => globalThis.crypto?.subtle !== undefined;

/** How this page checks signatures: with the browser's own cryptography, or without it in plain JavaScript. */
export const pageVerify = (): VerifySignature => (hasWebCrypto() ? webCryptoVerify : unhurried);
