import { median, rounded } from './statistics.js';

/** A figure and the rounds that it is the median of. */
export function figure(rounds: readonly number[], unit: string) {
  return { median: rounded(median(rounds)), rounds: rounds.map(rounded), unit };
}

/** Ratio of two medians, and of each pair of rounds: side by side, whatever else the machine does. */
export function ratio(of: readonly number[], to: readonly number[], meaning: string, goal?: number) {
  const value = median(of) / median(to);
  const rounds = of.map((each, place) => rounded(each / to[place]!));
  return { value: rounded(value), rounds, meaning, ...(goal === undefined ? {} : { goal, met: value >= goal }) };
}
