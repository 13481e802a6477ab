const TENANCY = /^(?:tenancies\/|tenant\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Returns the id of the tenancy that a header `archivist-tenancy` names, `tenancies/<uuid>`; undefined if it has no id. */
export function namedTenancy(header: string): string | undefined {
  return header.trim().toLowerCase().match(TENANCY)?.[1];
}
