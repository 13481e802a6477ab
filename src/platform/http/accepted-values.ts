/**
 * What a list with weights accepts, such as that of `Accept` or `Accept-Encoding`: its values in lower case, without
 * parameters, in their order and without those of weight 0 (RFC 9110 section 12.4.2).
 */
export function acceptedValues(list = ''): string[] {
  return list
    .toLowerCase()
    .split(',')
    .flatMap((member) => {
      const [value = '', ...parameters] = member.split(';').map((part) => part.trim());
      return parameters.some((each) => /^q=0(?:\.0{0,3})?$/.test(each)) ? [] : [value];
    });
}
