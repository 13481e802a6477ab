/** The database of a run that others are copied from. A run's name has letters, digits and hyphens only. */
export function templateDatabase(run: string): string {
  return `template_${run.toLowerCase().replace(/[^a-z0-9]/g, '_')}`;
}
