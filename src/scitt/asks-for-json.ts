/**
 * Whether an `Accept` header allows JSON and none of the forms that SCITT clients read, each without those of weight 0
 * (RFC 9110 section 12.5.1): stock clients read CBOR and send the same `Accept` as any other.
 */
export function asksForJson(accept = ''): boolean {
  const types = acceptedTypes(accept);
  const isOther = (type: string) => type.includes('*') || type.endsWith('/cbor') || type.endsWith('/cose');
  return types.includes('application/json') && !types.some(isOther);
}

function acceptedTypes(accept: string): string[] {
  return accept
    .toLowerCase()
    .split(',')
    .flatMap((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
      return parameters.some((each) => /^q=0(?:\.0{0,3})?$/.test(each)) ? [] : [type];
    });
}
