import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the scripted peer has seen. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly atMs: number;
}

/** One answer out of the ordinary; `hang` never answers, `reset` drops the connection. */
export type Fault =
  | 'hang'
  | 'reset'
  | { status: number; headers?: Record<string, string>; body?: unknown; raw?: string };
export type Endpoint = 'token' | 'asset look-up' | 'asset' | 'event' | 'event look-up' | 'capture report';

export interface ScriptedArchivist {
  readonly url: string;
  readonly seen: SeenRequest[];
  seenAt(endpoint: Endpoint): SeenRequest[];
  /** The next answers of an endpoint; afterwards it answers as a healthy service. */
  script(endpoint: Endpoint, ...faults: Fault[]): void;
  /** Answers of an endpoint from now on; undefined heals it. */
  always(endpoint: Endpoint, fault: Fault | undefined): void;
  expiresIn: number;
  close(): Promise<void>;
}

export const SCRIPTED_TENANCY = 'tenant/00000000-0000-4000-8000-00000000000a';

/** The token that the peer gives at this request for one. */
export function scriptedToken(count: number): string {
  const claims = Buffer.from(JSON.stringify({ jit_tenant_id: SCRIPTED_TENANCY })).toString('base64url');
  return `token-${count}.${claims}.signature`;
}

function endpointOf(method: string, path: string): Endpoint {
  if (path.startsWith('/archivist/iam/')) return 'token';
  if (path === '/archivist/v1/capture_reports') return 'capture report';
  if (/^\/archivist\/v2\/assets(\?|$)/.test(path)) return method === 'POST' ? 'asset' : 'asset look-up';
  return method === 'POST' ? 'event' : 'event look-up';
}

/** A peer that answers as the interface does, except where it was told to fail. It keeps no state but what it was asked. */
export async function startScriptedArchivist(): Promise<ScriptedArchivist> {
  const seen: SeenRequest[] = [];
  const next = new Map<Endpoint, Fault[]>();
  const standing = new Map<Endpoint, Fault>();
  let tokens = 0;

  function healthy(endpoint: Endpoint, expiresIn: number): unknown {
    if (endpoint === 'token') return { access_token: scriptedToken(++tokens), expires_in: expiresIn };
    if (endpoint === 'asset look-up') return { assets: [], next_page_token: '' };
    if (endpoint === 'event look-up') return { events: [], next_page_token: '' };
    if (endpoint === 'capture report') return {};
    const asset = 'assets/00000000-0000-4000-8000-000000000001';
    return { identity: endpoint === 'asset' ? asset : `${asset}/events/00000000-0000-4000-8000-000000000002` };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, path, headers, body: Buffer.concat(chunks).toString(), atMs: Date.now() });
    const endpoint = endpointOf(method, path);
    const fault = next.get(endpoint)?.shift() ?? standing.get(endpoint);
    if (fault === 'hang') return;
    if (fault === 'reset') return void request.socket.destroy();
    response.writeHead(fault?.status ?? 200, { 'content-type': 'application/json', ...fault?.headers });
    const told = fault && (fault.body ?? (fault.status >= 400 ? { error: 'refused' } : {}));
    response.end(fault?.raw ?? JSON.stringify(told ?? healthy(endpoint, peer.expiresIn)));
  }

  const server = createServer((request, response) => void handle(request, response).catch(() => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const peer: ScriptedArchivist = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    seenAt: (endpoint) => seen.filter(({ method, path }) => endpointOf(method, path) === endpoint),
    script: (endpoint, ...faults) => void next.set(endpoint, faults),
    always: (endpoint, fault) => void (fault ? standing.set(endpoint, fault) : standing.delete(endpoint)),
    expiresIn: 3600,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return peer;
}
