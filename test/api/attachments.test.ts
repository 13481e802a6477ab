import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

const ASSETS = '/archivist/v2/assets';
const ATTACHMENTS = '/archivist/v2/attachments';

let running: TestService;
let owner: Client;
let someone: Client;
let other: Client;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  [someone, other] = [await running.client({}), await running.client({})];
});
afterAll(() => running?.close());

interface Uploaded {
  readonly id: string;
  readonly attachment: Record<string, unknown>;
}

async function uploaded(client: Client, text: string, more: Record<string, unknown> = {}): Promise<Uploaded> {
  const { json } = await uploadFile(running.url, client, new TextEncoder().encode(text), 'audio/wav');
  const { alg, value } = json['hash'] as { alg: string; value: string };
  const attachment = {
    arc_attribute_type: 'arc_attachment',
    arc_blob_identity: json['identity'],
    arc_blob_hash_alg: alg,
    arc_blob_hash_value: value,
    ...more,
  };
  return { id: String(json['identity']).slice('blobs/'.length), attachment };
}

const textOf = (answer: Answer) => new TextDecoder().decode(answer.bytes);
const createAsset = (client: Client, attributes: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  client.post(ASSETS, { behaviours: ['RecordEvidence'], attributes, ...more });
const record = (client: Client, asset: unknown, body: Record<string, unknown>) =>
  client.post(`/archivist/v2/${asset}/events`, { operation: 'Record', behaviour: 'RecordEvidence', ...body });

describe('an attachment of an asset', () => {
  it('is read by the asset, with the file name that the attribute gives', async () => {
    const recording = await uploaded(someone, 'a call', { arc_file_name: 'dir/Anruf "Grün".wav' });
    const asset = await createAsset(someone, { arc_primary_image: recording.attachment });
    expect(asset.status).toBe(200);
    const path = `${ATTACHMENTS}/${asset.json['identity']}/${recording.id}`;
    const answer = await someone.get(path);
    expect([answer.status, textOf(answer)]).toEqual([200, 'a call']);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Anruf _Gr_n_.wav"; filename*=UTF-8''Anruf%20%22Gr%C3%BCn%22.wav`,
    );
    expect(textOf(await someone.get(path, { range: 'bytes=2-5' }))).toBe('call');
    expect((await someone.get(`${path}?strict=true`)).status).toBe(400);
    const info = await someone.get(`${path}/info`);
    expect(info.json).toEqual((await someone.get(`/archivist/v1/blobs/${recording.id}/info`)).json);
  });

  it('is read by who reads the asset, also by who did not upload it', async () => {
    const recording = await uploaded(someone, 'shared');
    const asset = await createAsset(owner, { recording: (await uploaded(owner, 'x')).attachment, note: 'n' });
    const own = await createAsset(someone, { list: [{ recording: recording.attachment }] });
    const path = `${ATTACHMENTS}/${own.json['identity']}/${recording.id}`;
    expect((await owner.get(path)).status).toBe(200);
    expect((await other.get(path)).status).toBe(404);
    expect((await other.get(`${path}/info`)).status).toBe(404);
    expect((await running.anonymous.get(path)).status).toBe(401);
    expect((await someone.get(`${ATTACHMENTS}/${asset.json['identity']}/${recording.id}`)).status).toBe(404);
    const stranger = await running.client({ roles: ['OWNER'], otherTenancy: true });
    expect((await stranger.get(path)).status).toBe(404);
  });

  it('is not there when the asset does not name the blob as an attachment', async () => {
    const recording = await uploaded(someone, 'apart');
    const named = await createAsset(someone, {
      conformance_report: `blobs/${recording.id}`,
      external: { arc_blob_hash_value: 'ab', arc_blob_hash_alg: 'SHA256', arc_file_name: 'elsewhere' },
    });
    expect(named.status).toBe(200);
    expect((await someone.get(`${ATTACHMENTS}/${named.json['identity']}/${recording.id}`)).status).toBe(404);
  });
});

describe('an attachment of an event', () => {
  it('is read by the event, and by the asset while the asset names it', async () => {
    const [first, second] = [await uploaded(someone, 'first'), await uploaded(someone, 'second')];
    const asset = (await createAsset(someone, {})).json['identity'];
    const before = await record(someone, asset, { asset_attributes: { image: first.attachment } });
    const after = await record(someone, asset, {
      event_attributes: { recording: second.attachment },
      asset_attributes: { image: second.attachment },
    });
    const byEvent = (event: Answer, { id }: Uploaded) => someone.get(`${ATTACHMENTS}/${event.json['identity']}/${id}`);
    expect(textOf(await byEvent(before, first))).toBe('first');
    expect(textOf(await byEvent(after, second))).toBe('second');
    expect((await byEvent(before, second)).status).toBe(404);
    expect((await someone.get(`${ATTACHMENTS}/${asset}/${second.id}`)).status).toBe(200);
    expect((await someone.get(`${ATTACHMENTS}/${asset}/${first.id}`)).status).toBe(404);
    const info = await someone.get(`${ATTACHMENTS}/${before.json['identity']}/${first.id}/info`);
    expect(info.json['identity']).toBe(`blobs/${first.id}`);
  });
});

describe('an attachment of a public asset', () => {
  it('needs no token, names no uploader, and is never handed out once found bad', async () => {
    const [image, recording] = [await uploaded(someone, 'image'), await uploaded(someone, 'call')];
    const asset = (await createAsset(someone, { image: image.attachment }, { public: true })).json['identity'];
    const event = await record(someone, asset, { event_attributes: { recording: recording.attachment } });
    const ofAsset = `${ATTACHMENTS}/public${asset}/${image.id}`;
    const ofEvent = `${ATTACHMENTS}/public${event.json['identity']}/${recording.id}`;
    const answer = await running.anonymous.get(ofAsset);
    expect([answer.status, textOf(answer)]).toEqual([200, 'image']);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(textOf(await running.anonymous.get(ofEvent))).toBe('call');
    for (const path of [ofAsset, ofEvent]) {
      const { json } = await running.anonymous.get(`${path}/info`);
      expect(json).toMatchObject({ size: expect.any(Number), issuer: '', subject: '' });
    }
    await running.asOwner(`UPDATE archivist.blob SET scanned_status = 'SCANNED_BAD' WHERE blob_id = '${image.id}'`);
    expect((await running.anonymous.get(`${ofAsset}?allow_insecure=true`)).status).toBe(400);
  });

  it('is only there for public assets', async () => {
    const image = await uploaded(someone, 'private');
    const asset = (await createAsset(someone, { image: image.attachment })).json['identity'];
    expect((await running.anonymous.get(`${ATTACHMENTS}/public${asset}/${image.id}`)).status).toBe(404);
  });
});

describe('a create that attaches', () => {
  const wrong: [string, (right: Uploaded) => Record<string, unknown>, RegExp][] = [
    [
      'another hash',
      ({ attachment }) => ({ ...attachment, arc_blob_hash_value: 'ab'.repeat(32) }),
      /arc_blob_hash_value/,
    ],
    ['no hash', ({ attachment }) => ({ ...attachment, arc_blob_hash_value: null }), /arc_blob_hash_value/],
    ['another algorithm', ({ attachment }) => ({ ...attachment, arc_blob_hash_alg: 'MD5' }), /arc_blob_hash_alg/],
    ['no identity', ({ attachment }) => ({ ...attachment, arc_blob_identity: null }), /arc_blob_identity/],
    [
      'a list of its identity',
      ({ attachment }) => ({ ...attachment, arc_blob_identity: [attachment['arc_blob_identity']] }),
      /arc_blob_identity/,
    ],
    ['no blob', ({ attachment }) => ({ ...attachment, arc_blob_identity: 'blobs/x' }), /arc_blob_identity/],
    [
      'a blob that is not there',
      ({ attachment }) => ({ ...attachment, arc_blob_identity: 'blobs/00000000-0000-7000-8000-000000000000' }),
      /arc_blob_identity/,
    ],
  ];

  it.each(wrong)('%s is a 400 that names the field, wherever it stands', async (_name, spoil, named) => {
    const bad = spoil(await uploaded(someone, 'right'));
    const asset = (await createAsset(someone, {})).json['identity'];
    const answers: [Answer, string][] = [
      [await createAsset(someone, { deep: [{ image: bad }] }), 'attributes.deep.0.image'],
      [await record(someone, asset, { event_attributes: { image: bad } }), 'event_attributes.image'],
      [await record(someone, asset, { asset_attributes: { image: bad } }), 'asset_attributes.image'],
      [await someone.post('/archivist/v1/events', { attributes: { image: bad } }), 'attributes.image'],
    ];
    for (const [answer, place] of answers) {
      expect([answer.status, answer.json['description']]).toEqual([400, expect.stringMatching(named)]);
      expect(answer.json['description']).toMatch(new RegExp(`^${place.replaceAll('.', '\\.')}\\.`));
    }
    expect((await someone.get(`/archivist/v2/${asset}/events`)).json['events']).toHaveLength(1);
  });

  it('the blob of somebody else is refused, for it would hand it on; an Owner may', async () => {
    const { attachment } = await uploaded(someone, 'theirs');
    expect((await createAsset(other, { attachment })).status).toBe(400);
    expect((await createAsset(owner, { attachment })).status).toBe(200);
    const stranger = await running.client({ roles: ['OWNER'], otherTenancy: true });
    expect((await createAsset(stranger, { attachment })).status).toBe(400);
  });

  it('leaves requests of the same moment alone when it is refused', async () => {
    const { attachment } = await uploaded(someone, 'mates');
    const answers = await Promise.all(
      [attachment, { ...attachment, arc_blob_hash_value: 'x' }, attachment].map((each) =>
        createAsset(someone, { each }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 400, 200]);
  });
});
