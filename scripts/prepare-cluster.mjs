// The embedded database of a first start: initialised and migrated here, and copied there.
import { archiveCluster } from '../dist/src/platform/postgres/archive-cluster.js';
import { prepareCluster } from '../dist/src/platform/postgres/prepared-cluster.js';

await prepareCluster(archiveCluster);
