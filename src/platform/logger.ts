import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;
