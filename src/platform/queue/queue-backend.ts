import type { Job, JobSchedulerTemplateOptions, Queue, WorkerOptions } from 'bullmq';

/** What a worker does with a job; the resolved value is the job's result. */
export type Processor = (job: Job) => Promise<unknown>;

/** Does the jobs of a queue until it is closed, also after an outage of the store. */
export interface QueueWorker {
  /** A job failed. */
  on(event: 'failed', listener: (job: Job | undefined, error: Error) => void): void;
  /** The store refused something or did not answer. */
  on(event: 'error', listener: (error: Error) => void): void;
  /**
   * Resolves when jobs in progress have ended. While a Redis is away, the result of such a job is not stored, and it is
   * done again later.
   */
  close(): Promise<void>;
}

/** When a queue's job is due, again and again. */
export interface QueueSchedule {
  readonly queue: string;
  readonly id: string;
  /** An interval in milliseconds, or a cron pattern in UTC. */
  readonly repeat: { readonly every: number } | { readonly pattern: string };
  readonly options: JobSchedulerTemplateOptions;
}

/** BullMQ over the deployment's store. Jobs only wake workers; the truth is in rows. */
export interface QueueBackend {
  readonly engine: 'PostgreSQL' | 'Redis' | 'embedded PostgreSQL';
  /**
   * The queue of this name. Every call returns the same object, unless the store did not answer when it was opened: ask
   * again for each use. Closed with the backend.
   */
  queue(name: string): Queue;
  /** Starts a worker. Closed with the backend unless it was closed before. */
  worker(name: string, processor: Processor, options?: Partial<Omit<WorkerOptions, 'connection'>>): QueueWorker;
  /**
   * Makes a schedule, and keeps it until it is closed: one that is due too late, or that the store has lost, is made again.
   * @throws for an invalid pattern
   */
  keepSchedule(schedule: QueueSchedule): Promise<{ close(): Promise<void> }>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /** Whether the store refuses writes because its disk or memory is full; the queue in a database never says so. */
  isFull(): Promise<boolean>;
  /**
   * Resolves when every job added before this call survives a power failure of the store, as far as its configuration
   * can promise that; a weaker configuration that is accepted was logged at startup.
   * @throws if the store does not persist jobs, or does not confirm in time
   */
  confirmDurable(): Promise<void>;
  close(): Promise<void>;
}
