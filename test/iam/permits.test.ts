import { describe, expect, it } from 'vitest';
import { permits, visibilityOf } from '../../src/iam/access/permits.js';

const own = '01947000-0000-7000-8000-000000000001';
const other = '01947000-0000-7000-8000-000000000002';
const issuer = 'http://127.0.0.1:8080/appidpv1';

function principal(subject: string, roles: string[] = [], tenantId = own) {
  return { tenantId, issuer, subject, displayName: '', email: '', roles, claims: {} };
}
const asset = (tenantId: string, creatorSubject: string) =>
  ({ kind: 'asset', tenantId, creatorIssuer: issuer, creatorSubject, public: false, attributes: {} }) as const;

describe('permits', () => {
  it('lets an Owner do everything in its own tenancy and nothing in another', () => {
    const owner = principal('boss', ['OWNER']);
    expect(permits(owner, 'record', asset(own, 'somebody'))).toBe(true);
    expect(permits(owner, 'read', asset(other, 'boss'))).toBe(false);
    expect(permits(owner, 'create', { kind: 'assets', tenantId: other })).toBe(false);
  });

  it('lets any identity create, and read and record on what it created itself', () => {
    const identity = principal('link');
    expect(permits(identity, 'create', { kind: 'assets', tenantId: own })).toBe(true);
    expect(permits(identity, 'create', { kind: 'asset_free_events', tenantId: own })).toBe(true);
    expect(permits(identity, 'record', asset(own, 'link'))).toBe(true);
    expect(permits(identity, 'read', asset(own, 'link'))).toBe(true);
  });

  it('denies an identity what somebody else created, even the same subject of another issuer', () => {
    const identity = principal('link');
    expect(permits(identity, 'read', asset(own, 'other link'))).toBe(false);
    expect(permits(identity, 'read', { ...asset(own, 'link'), creatorIssuer: 'https://elsewhere' })).toBe(false);
  });

  it('lets an application change a location that names its client id, and no member whose subject is the same', () => {
    const location = (name: string) => ({ kind: 'location', tenantId: own, permittedSubjects: [name] }) as const;
    const application = { ...principal('link'), kind: 'application' as const };
    const member = { ...application, kind: 'member' as const, email: 'Ada@acme.example' };
    for (const name of ['link', 'applications/link']) {
      expect(permits(application, 'manage', location(name))).toBe(true);
      expect(permits(member, 'manage', location(name))).toBe(false);
    }
    expect(permits(member, 'manage', location('ada@acme.example'))).toBe(true);
  });

  it('shows lists in full to Owners only', () => {
    expect(visibilityOf(principal('boss', ['OWNER']))).toBe('all');
    expect(visibilityOf(principal('link'))).toEqual({ issuer, subject: 'link' });
  });
});
