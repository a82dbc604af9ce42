import type { Mutant } from './table.ts'

// Bugs of clusters: placement, start and failure of members, and their environment.

const LIFE = 'src/domain/cluster/life.ts'
const GANG = 'src/domain/cluster/gang.ts'
const ENVIRONMENT = 'src/domain/cluster/environment.ts'
const FILES = 'src/domain/cluster/files.ts'
const ROLES = 'src/domain/cluster/roles.ts'
const WORKLOADS = 'src/domain/pod/workloads.ts'
const INSERT = 'src/db/clusters/insert-cluster.ts'
const ROWS = 'src/db/clusters/clusters.ts'
const OBJECT = 'durable-objects/cluster.ts'
const REPORTS = 'src/effects/pods/pod-reports.ts'
const SERVICE = 'src/services/clusters/clusters.ts'
const REQUEST = 'src/domain/cluster/request.ts'

/** Killed by the unit tests of the pure rules and by the model. */
export const CLUSTER_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'a member starts before the others are ready',
    file: LIFE,
    find: 'if (ready.length === waiting.length)',
    replace: 'if (ready.length > 0)',
  },
  {
    id: 'an answer to another question counts',
    file: LIFE,
    find: 'report.check === check.number',
    replace: 'report.check <= check.number',
  },
  {
    id: 'a member that has moved is not asked anew',
    file: LIFE,
    find: 'check.places[member.id] !== placeOf(member)',
    replace: 'check.places[member.id] === undefined',
  },
  {
    id: 'a place is its host alone',
    file: LIFE,
    find: 'return `${hostId}/${generation}`',
    replace: 'return `${hostId}/${generation * 0}`',
  },
  {
    id: 'a question takes its number from the object alone',
    file: LIFE,
    find: 'Math.max(checkNumber, check?.number ?? 0) + 1',
    replace: '(check?.number ?? 0) + 1',
  },
  {
    id: 'what ends after it ran is moved',
    file: LIFE,
    find: "status === 'ERROR' && !hostLost && triedHosts !== null\n}",
    replace: "status === 'ERROR' && !hostLost\n}",
  },
  {
    id: 'a drain moves members of clusters that wait for their hosts',
    file: LIFE,
    find: "decideLeaving(onHostLoss === 'REPLACE' ?",
    replace: "decideLeaving(onHostLoss !== 'REPLACE' ?",
  },
  {
    id: 'a lost host counts as a failed start',
    file: LIFE,
    find: 'return hostLost || isLeaving(member) ? [...(triedHosts ?? [])]',
    replace: 'return !hostLost ? [...(triedHosts ?? [])]',
  },
  { id: 'a member goes back to where it failed', file: LIFE, find: ' || member.triedHosts?.includes(id)', replace: '' },
  {
    id: 'a member goes where the others do not reach it',
    file: LIFE,
    find: "return overlay === 'routed' ||",
    replace: "return overlay !== 'none' ||",
  },
  { id: 'no end to the hosts that are tried', file: LIFE, find: '(!hostLost && triedHosts.length + 1 >= MAX_PLACES) ||', replace: '' },
  { id: 'no end to the search for a place', file: LIFE, find: ' || nowMs - changedAtMs >= PLACE_PATIENCE_MS', replace: '' },
  { id: 'only the one that failed is given up', file: LIFE, find: 'return [...others, ...(lost', replace: 'return [...(lost' },
  {
    id: 'giving up that broke off is not taken up again',
    file: LIFE,
    find: 'const dead = live.find(isDead)',
    replace: 'const dead = live.find(() => false)',
  },
  {
    id: 'a lost member outlives those that were given up',
    file: LIFE,
    find: ' || hasFailed(member) || member.hostLost)',
    replace: ' || hasFailed(member))',
  },
  {
    id: 'a lost member is replaced although it is to wait',
    file: LIFE,
    find: "(onHostLoss === 'REPLACE' || member.triedHosts !== null)",
    replace: 'true',
  },
  {
    id: 'a lost member that never ran waits',
    file: LIFE,
    find: "(onHostLoss === 'REPLACE' || member.triedHosts !== null)",
    replace: "onHostLoss === 'REPLACE'",
  },
  {
    id: 'a deleted cluster leaves members',
    file: LIFE,
    find: 'if (cluster.isDeleted || live.length === 0)',
    replace: 'if (live.length === 0)',
  },
  {
    id: 'a cluster is forgotten before its hosts have let go',
    file: LIFE,
    find: 'return holdsHosts ? {',
    replace: 'return !holdsHosts ? {',
  },
  {
    id: 'a broken pair is to blame at once',
    file: LIFE,
    find: 'nowMs - troubledSinceMs >= REACH_PATIENCE_MS',
    replace: 'nowMs >= troubledSinceMs',
  },
  { id: 'the lower rank is to blame', file: LIFE, find: '|| b.rank - a.rank', replace: '|| a.rank - b.rank' },
  {
    id: 'somebody is to blame before all have answered',
    file: LIFE,
    find: 'const isHeard = live.filter(isThere).every(',
    replace: 'const isHeard = live.filter(isThere).some(',
  },
  { id: 'a silent host is waited for without end', file: LIFE, find: 'if (nowMs < dueMs)', replace: 'if (nowMs !== 0)' },
  {
    id: 'who is not there has to be reached',
    file: LIFE,
    find: ' || (gaps.length > 0 && gaps.every(',
    replace: ' || (gaps.length < 0 && gaps.every(',
  },
  {
    id: 'members are spread over data centers',
    file: GANG,
    find: 'networked.filter((host) => host.dataCenterId === dataCenterId)',
    replace: 'networked',
  },
  {
    id: 'several hosts off the network',
    file: GANG,
    find: "const routed = rooms.filter(({ host }) => host.overlay === 'routed')",
    replace: 'const routed = rooms',
  },
  { id: 'hosts without private networks', file: GANG, find: "overlay !== undefined && overlay !== 'none'", replace: 'overlay !== null' },
  { id: 'each member is granted what its host has', file: GANG, find: 'vcpus: Math.min(', replace: 'vcpus: Math.max(' },
  {
    id: 'packed over the most hosts',
    file: GANG,
    find: 'b.seats.length - a.seats.length || (a.host.id < b.host.id ? -1 : 1))\n  const chosen',
    replace: 'a.seats.length - b.seats.length || (a.host.id < b.host.id ? -1 : 1))\n  const chosen',
  },
  {
    id: 'a container starts without being released',
    file: WORKLOADS,
    find: 'pod.readyGeneration < pod.generation,',
    replace: 'pod.readyGeneration < 0,',
  },
  { id: 'WORLD_SIZE counts nodes', file: ENVIRONMENT, find: 'String(place.podCount * trainers)', replace: 'String(place.podCount)' },
  { id: 'the primary is the member itself', file: ENVIRONMENT, find: '+ other - rank', replace: '+ other - other' },
  { id: 'the SLURM key can be read by all', file: FILES, find: 'const OWNER_ONLY = 0o400', replace: 'const OWNER_ONLY = 0o444' },
  { id: 'every node is the controller', file: ROLES, find: "rank === 0 ? 'SLURM_CONTROLLER'", replace: "rank >= 0 ? 'SLURM_CONTROLLER'" },
]

/** Killed by the tests of clusters in workerd. */
export const CLUSTER_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'a look that fails is not repeated',
    file: OBJECT,
    find: 'let lookAtMs: number | null = this.now() + LOOK_AFTER_MS',
    replace: 'let lookAtMs: number | null = this.now() + 10 ** 9',
  },
  {
    id: 'a cluster beyond the budget of GPUs',
    file: INSERT,
    find: "withinBudget(teamId, 'gpus', gpus)",
    replace: "withinBudget(teamId, 'gpus', 0)",
  },
  {
    id: 'members on a host that takes no work',
    file: INSERT,
    find: 'WHERE ${required({ host: takes })}',
    replace: 'WHERE ${takes}',
  },
  { id: 'two clusters share a network', file: INSERT, find: 'SELECT slot + 1 FROM overlays', replace: 'SELECT slot + 0 FROM overlays' },
  {
    id: 'a rename leaves the members',
    file: ROWS,
    find: "name: sql`${name} || '-' || ${pods.clusterRank}`",
    replace: 'name: sql`${pods.name}`',
  },
  {
    id: 'the network of a deleted cluster stays',
    file: ROWS,
    find: 'db.delete(overlays).where(eq(overlays.ownerId, id))',
    replace: "db.delete(overlays).where(eq(overlays.ownerId, ''))",
  },
  { id: 'an answer before its question', file: OBJECT, find: 'this.store.write(step.check)', replace: 'void step.check' },
  { id: 'who has run is still tried elsewhere', file: REPORTS, find: 'return { ...pod, triedHosts: null }', replace: 'return pod' },
  { id: 'a deletion is left to the timer', file: SERVICE, find: '    await object.look(id)\n', replace: '' },
  { id: 'a template beside an image', file: REQUEST, find: 'if (both.length > 0)', replace: 'if (both.length > 9)' },
]
