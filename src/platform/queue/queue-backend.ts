import type { Job, Queue, Worker, WorkerOptions } from 'bullmq';

/** What a worker does with a job; what it resolves with is the job's result. */
export type Processor = (job: Job) => Promise<unknown>;

/** BullMQ over whichever store the deployment has. Jobs wake workers; rows hold the truth. */
export interface QueueBackend {
  readonly engine: 'PostgreSQL' | 'Redis' | 'embedded PostgreSQL';
  /** The queue of this name, one object however often it is asked for. Closed with the backend. */
  queue(name: string): Queue;
  /** Starts a worker. Closed with the backend unless it was closed before. */
  worker(name: string, processor: Processor, options?: Partial<Omit<WorkerOptions, 'connection'>>): Worker;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /**
   * Resolves when every job added before this call survives a power loss of the store, as far as its configuration can
   * promise that; a weaker configuration that is accepted was told at start.
   * @throws when the store keeps nothing, or does not confirm in time
   */
  confirmDurable(): Promise<void>;
  close(): Promise<void>;
}
