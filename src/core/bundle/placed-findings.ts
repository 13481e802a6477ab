import { createVerdict, type Findings } from '../verify/verdict.js';

/** Returns findings with the paths in the bundle in place of the generic names of pieces. */
export function placed({ claims, contradictions, notCovered: open, missing }: Findings, paths: Record<string, string>) {
  const at = <Part extends { readonly piece: string }>(part: Part): Part => ({
    ...part,
    piece: paths[part.piece] ?? part.piece,
  });
  return createVerdict({
    claims: claims.map(at),
    contradictions: contradictions.map(at),
    notCovered: open.map(at),
    missing,
  });
}
