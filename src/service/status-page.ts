import { escaped, smallPage } from '../platform/http/small-page.js';
import type { ServiceHealth } from './service-health.js';

/** The page at `/`: what this is, its state, and links. No scripts, no external assets. */
export function statusPage(health: ServiceHealth, publicUrl: string, rootFingerprint: string): string {
  const state = health.ready ? 'ready' : 'not ready';
  const rows = Object.entries(health.checks)
    .map(([name, check]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(check)}</td></tr>`)
    .join('\n');
  return smallPage(`vcon-archivist is ${state}`, [
    `<p>Signed statements, an append-only Merkle log and receipts for every operation on a vCon.</p>
<table>
${rows}
</table>
<p>Fingerprint of the root key, for <code>verify --root</code>:<br><code>${escaped(rootFingerprint)}</code></p>
<ul>
<li><a href="docs">API reference</a>, from <a href="openapi.json">openapi.json</a>; base URL <code>${escaped(publicUrl)}</code></li>
<li><a href="console">Find a conversation</a>, see what happened to it, and check it</li>
<li><a href="verify">Check evidence</a> in your browser: nothing is uploaded</li>
<li>State: <a href="readyz">readyz</a>, <a href="healthz">healthz</a>, <a href="metrics">metrics</a></li>
<li>Keys: <a href=".well-known/scitt-keys">scitt-keys</a>, <a href=".well-known/jwks.json">jwks.json</a>,
<a href="archivist/v1/didweb/did.json">did.json</a></li>
</ul>`,
  ]);
}
