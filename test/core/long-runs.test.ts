import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64Url, utf8 } from '../../src/core/bytes.js';
import { inspectVcon } from '../../src/core/vcon/vcon-form.js';
import { vconHashes } from '../../src/core/vcon/vcon-hash.js';

/** As many characters as a large upload has. With work that grows with their square, each test here would take hours. */
const MANY = 2_000_000;

describe('a long run of one character in a hostile text', () => {
  it('is taken for what it is in base64: padding only at the end', () => {
    expect(() => fromBase64(`${'='.repeat(MANY)}A`)).toThrow(TypeError);
    expect(fromBase64(`TWE${'='.repeat(MANY)}`)).toEqual(utf8('Ma'));
    expect(toBase64Url(utf8('M'))).toBe('TQ');
  });

  it('in the payload of a signed vCon makes it malformed', () => {
    const vcon = utf8(JSON.stringify({ payload: `${'='.repeat(MANY)}A`, signatures: [] }));
    expect(inspectVcon(vcon)).toMatchObject({ form: 'malformed', problem: 'the signed payload is not base64url' });
  });

  it('in a number or a time of a vCon loses digits', () => {
    const zeros = '0'.repeat(MANY);
    const { conserver, jcs } = vconHashes(utf8(`{"uuid": "u", "duration": 1.${zeros}1}`));
    expect(conserver[0]!.reason).toContain('more digits than the conserver keeps');
    expect(jcs.reason).toContain('more digits than a double keeps');
    const times = vconHashes(
      utf8(
        `{"vcon": "0.4.0", "uuid": "0192e8f5-0000-7000-8000-000000000001", "created_at": "2025-01-16T16:12:38.${zeros}1Z"}`,
      ),
    );
    expect(times.conserver.find(({ form }) => form === 'submitted')!.reason).toContain('below a microsecond');
  });
});
