import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { AGENT_MUTANTS } from '../test/mutants/agent.ts'
import { AUDIT_DOMAIN_MUTANTS, AUDIT_WORKER_MUTANTS } from '../test/mutants/audit.ts'
import { BILLING_DOMAIN_MUTANTS, BILLING_WORKER_MUTANTS } from '../test/mutants/billing.ts'
import { CLI_MUTANTS } from '../test/mutants/cli.ts'
import { CLUSTER_DOMAIN_MUTANTS, CLUSTER_WORKER_MUTANTS } from '../test/mutants/clusters.ts'
import { CONSOLE_DOMAIN_MUTANTS, CONSOLE_WORKER_MUTANTS } from '../test/mutants/console.ts'
import { DOOR_AGENT_MUTANTS, DOOR_WORKER_MUTANTS } from '../test/mutants/doors.ts'
import { ENDPOINT_MUTANTS, ENGINE_MUTANTS } from '../test/mutants/engine.ts'
import { FINDING_MUTANTS, FINDING_STAGES } from '../test/mutants/findings.ts'
import { GRAPHQL_DOMAIN_MUTANTS, GRAPHQL_WORKER_MUTANTS } from '../test/mutants/graphql.ts'
import { HOST_DOMAIN_MUTANTS, HOST_OBJECT_MUTANTS } from '../test/mutants/hosts.ts'
import { POD_CORE_DOMAIN_MUTANTS, POD_CORE_OBJECT_MUTANTS } from '../test/mutants/pod-core.ts'
import { POD_DOMAIN_MUTANTS, POD_WORKER_MUTANTS } from '../test/mutants/pods.ts'
import { QUEUE_DOMAIN_MUTANTS, QUEUE_OBJECT_MUTANTS } from '../test/mutants/queue.ts'
import { RESOURCE_DOMAIN_MUTANTS, RESOURCE_WORKER_MUTANTS } from '../test/mutants/resources.ts'
import { REST_DOMAIN_MUTANTS, REST_WORKER_MUTANTS } from '../test/mutants/rest.ts'
import { STATEMENT_MUTANTS } from '../test/mutants/statements.ts'
import { STRANGER_MUTANTS } from '../test/mutants/strangers.ts'
import { SUBMIT_DOMAIN_MUTANTS, SUBMIT_OBJECT_MUTANTS } from '../test/mutants/submissions.ts'
import { DOMAIN_MUTANTS, type Mutant, OBJECT_MUTANTS } from '../test/mutants/table.ts'

// Mutation tests: plants each bug of the tables in a copy of the sources and runs the tests that must fail. There are as many copies as
// cores, each with one bug at a time. Exit code 1 if a bug survives. `npm run mutants` runs all, `npm run mutants -- domain`, `-- engine`,
// `-- resources`, `-- rest`, `-- audit`, `-- pods`, `-- hosts`, `-- clusters`, `-- gangs`, `-- agent`, `-- strangers`, `-- statements`, `--
// findings` or `-- objects` runs a part, and a second word selects the bugs whose id contains it.

const COPIED = [
  'src',
  'durable-objects',
  'test',
  'migrations',
  'vitest.config.ts',
  'wrangler.toml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'dist',
  'docs',
]
/** Tests that run longer than this count as hanging because of the bug, milliseconds. */
const TIME_LIMIT_MS = 10 * 60_000
const MAX_COPIES = 8
/** Characters of output shown for tests that fail without a bug. */
const SHOWN_CHARS = 4_000

interface Suite {
  mutants: readonly Mutant[]
  /** Tests that may find a bug, fast ones first; a bug is killed by the first test that fails. */
  stages: readonly (readonly string[])[]
}

/** Tests close to a file, run before all others, because they find most of its bugs. The suite's last stage contains them too. */
const NEAREST: readonly (readonly [RegExp, readonly string[]])[] = [
  [/job-(store|row|lists)/, ['queue/store/state']],
  [/call-limits|submissions|caller\.ts|objects\/endpoint\.ts|idempotency-store/, ['queue/jobs/limits', 'queue/jobs/submissions']],
  [/objects\/webhook|outbox/, ['queue/jobs/webhooks']],
  [/openai|event-/, ['queue/jobs/openai', 'queue/jobs/event-stream']],
  [/pod-log|take-logs/, ['rest/endpoints/worker-logs']],
  [/capacity|worker-effects/, ['queue/workers/capacity', 'queue/workers/room', 'queue/workers/scaling']],
  [/make-room|room-effects/, ['queue/workers/room']],
  [/watched-stream|authenticate/, ['rest/access/suspension']],
  [/worker-posts|endpoint-calls|post-body|post-room/, ['queue/workers/deliveries', 'queue/workers/worker-posts']],
  [/in-flight/, ['queue/jobs/large-reads']],
  [/log-archives/, ['pods/logs/log-budget']],
  [/graphql-api/, ['graphql/strangers']],
  [/long-note/, ['hosts/long-note']],
  [/billing\/stops/, ['plans/foreign-names']],
  [/db\/resources\/secrets|host\/pods\/pods/, ['secrets/boot', 'secrets/secrets']],
]
/** Tests of the resources that pods refer to. */
const RESOURCE_TESTS = [
  'network-volumes',
  'global-volumes',
  'templates',
  'registries',
  'registry-hosts',
  'ssh-keys',
  'endpoint-templates',
  'foreign-endpoint',
].map((name) => `test/worker/rest/${name}`)
/** Tests of the behaviour that all routes share. */
const REST_TESTS = [
  'rest/requests/idempotency',
  'rest/limits/rate-limit',
  'rest/requests/protocol',
  'rest/requests/validation',
  'rest/access/key-floods',
  'rest/accounts/organizations',
  'secrets/at-rest',
].map((name) => `test/worker/${name}`)
const OTHER_REST_TESTS = ['endpoints', 'releases', 'suspension', 'budgets'].map((name) => `test/worker/rest/${name}`)
/** Tests that find most bugs of the objects; bugs that survive these run against all tests of the queue. */
const LIKELY_TESTS = ['lifecycle', 'leases', 'lost-leases', 'trouble'].map((name) => `test/worker/queue/${name}`)
/** Tests of the agent that start no process. */
const AGENT_TESTS = [
  'workloads/reconcile',
  'workloads/supervisor',
  'mounts',
  'docker',
  'full-disk',
  'exit-reason',
  'options',
  'plane/lease',
  'logs/spool',
  'logs/shipper',
  'relay/door.test.ts',
].map((name) => `test/host-agent/${name}`)
/** Tests of the CLI that read no document. */
const CLI_TESTS = ['target', 'exit-codes', 'deploy.test', 'output'].map((name) => `test/local/cli/${name}`)
/** Tests of plan floods, of bounds on reads and stored data, and of lying hosts. */
const STRANGER_TESTS = [
  'rest/limits/in-flight',
  'plans/no-plan',
  'plans/foreign-names',
  'plans/cost',
  'graphql/strangers',
  'queue/jobs/large-reads',
  'pods/logs/log-budget',
  'pods/places/global-networking',
  'hosts/long-note',
].map((name) => `test/worker/${name}`)
const SUITES: Record<string, Suite> = {
  domain: {
    mutants: [
      ...DOMAIN_MUTANTS,
      ...QUEUE_DOMAIN_MUTANTS,
      ...SUBMIT_DOMAIN_MUTANTS,
      ...RESOURCE_DOMAIN_MUTANTS,
      ...REST_DOMAIN_MUTANTS,
      ...GRAPHQL_DOMAIN_MUTANTS,
      ...BILLING_DOMAIN_MUTANTS,
      ...AUDIT_DOMAIN_MUTANTS,
      ...CONSOLE_DOMAIN_MUTANTS,
      ...HOST_DOMAIN_MUTANTS,
      ...POD_DOMAIN_MUTANTS,
      ...POD_CORE_DOMAIN_MUTANTS,
    ],
    stages: [
      ['--project', 'unit', '--bail', '1', 'test/domain', 'test/contract/image-reference'],
      ['--project', 'unit', 'test/model'],
    ],
  },
  console: { mutants: CONSOLE_WORKER_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/console']] },
  doors: { mutants: DOOR_WORKER_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/doors']] },
  'doors-agent': {
    mutants: DOOR_AGENT_MUTANTS,
    stages: [
      ['--project', 'agent', '--bail', '1', 'test/host-agent/tunnel/channel-session', 'test/host-agent/docker/exec', 'test/ssh-proxy'],
    ],
  },
  resources: {
    mutants: RESOURCE_WORKER_MUTANTS,
    stages: [['--project', 'worker', '--bail', '1', ...RESOURCE_TESTS]],
  },
  rest: {
    mutants: REST_WORKER_MUTANTS,
    stages: [
      ['--project', 'worker', '--bail', '1', ...REST_TESTS],
      ['--project', 'worker', '--bail', '1', 'test/worker/sessions', ...OTHER_REST_TESTS],
    ],
  },
  graphql: { mutants: GRAPHQL_WORKER_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/graphql']] },
  audit: {
    mutants: AUDIT_WORKER_MUTANTS,
    stages: [['--project', 'worker', '--bail', '1', 'test/worker/audit']],
  },
  billing: { mutants: BILLING_WORKER_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/billing']] },
  clusters: {
    mutants: CLUSTER_DOMAIN_MUTANTS,
    stages: [
      ['--project', 'unit', '--bail', '1', 'test/domain/cluster', 'test/domain/pod/workloads'],
      ['--project', 'unit', 'test/model/cluster'],
    ],
  },
  gangs: { mutants: CLUSTER_WORKER_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/clusters']] },
  hosts: { mutants: HOST_OBJECT_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/hosts']] },
  cli: { mutants: CLI_MUTANTS, stages: [['--project', 'agent', '--bail', '1', ...CLI_TESTS]] },
  agent: {
    mutants: AGENT_MUTANTS,
    stages: [['--project', 'agent', '--bail', '1', ...AGENT_TESTS]],
  },
  pods: {
    mutants: POD_WORKER_MUTANTS,
    stages: [['--project', 'worker', '--bail', '1', 'test/worker/rest/pods-']],
  },
  core: {
    mutants: POD_CORE_OBJECT_MUTANTS,
    stages: [['--project', 'worker', '--bail', '1', 'test/worker/pods']],
  },
  strangers: {
    mutants: STRANGER_MUTANTS,
    stages: [
      ['--project', 'unit', '--bail', '1', 'test/domain/overlay', 'test/host-protocol/overlays'],
      ['--project', 'agent', '--bail', '1', 'test/host-agent/network/overlay/overlay-rules'],
      ['--project', 'worker', '--bail', '1', ...STRANGER_TESTS],
    ],
  },
  statements: { mutants: STATEMENT_MUTANTS, stages: [['--project', 'worker', '--bail', '1', 'test/worker/statements']] },
  findings: { mutants: FINDING_MUTANTS, stages: FINDING_STAGES },
  engine: {
    mutants: ENGINE_MUTANTS,
    stages: [
      ['--project', 'unit', '--bail', '1', 'test/queue', 'test/domain/worker', 'test/model'],
      ['--project', 'worker', '--bail', '1', ...LIKELY_TESTS],
      ['--project', 'worker', '--bail', '1', 'test/worker/queue', 'test/worker/hosts'],
    ],
  },
  objects: {
    mutants: [...ENDPOINT_MUTANTS, ...QUEUE_OBJECT_MUTANTS, ...SUBMIT_OBJECT_MUTANTS, ...OBJECT_MUTANTS],
    stages: [
      ['--project', 'worker', '--bail', '1', ...LIKELY_TESTS],
      ['--project', 'worker', '--bail', '1', 'test/worker/queue', 'test/worker/rest/worker-logs'],
    ],
  },
}

const [part, words] = process.argv.slice(2)
let caught = 0
let survived = 0
for (const [name, suite] of Object.entries(SUITES)) if (!part || part === name) await tryAll(name, suite)
console.log(`\n${caught} caught, ${survived} survived`)
process.exit(survived === 0 ? 0 : 1)

/** Tests all bugs of one suite, one per copy at a time. */
async function tryAll(name: string, suite: Suite): Promise<void> {
  const left = suite.mutants.filter((mutant) => !words || mutant.id.includes(words))
  if (left.length === 0) return
  const copies = Array.from({ length: Math.min(availableParallelism(), MAX_COPIES, left.length) }, makeCopy)
  try {
    for (const stage of suite.stages) {
      const { isGood, output } = await tryTests(copies[0] ?? '', stage, ['--retry', '1'])
      if (!isGood) throw new Error(`the ${name} tests fail without any planted bug:\n${output}`)
    }
    await Promise.all(copies.map((copy) => tryInTurn(name, suite, copy, left)))
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true })
  }
}

async function tryInTurn(name: string, suite: Suite, copy: string, left: Mutant[]): Promise<void> {
  for (let mutant = left.shift(); mutant; mutant = left.shift()) {
    const killed = await kills(mutant, suite, copy)
    if (killed) caught++
    else survived++
    console.log(`${killed ? 'caught  ' : 'SURVIVED'}  ${name}: ${mutant.id}`)
  }
}

function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'podplane-mutants-'))
  const filter = (path: string) => basename(path) !== 'node_modules'
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(copy, name), { recursive: true, filter })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

async function kills(mutant: Mutant, suite: Suite, copy: string): Promise<boolean> {
  const path = join(copy, mutant.file)
  const source = readFileSync(path, 'utf8')
  const places = source.split(mutant.find).length - 1
  if (places !== 1) throw new Error(`"${mutant.id}": its text occurs ${places} times in ${mutant.file}, want 1`)
  writeFileSync(
    path,
    source.replace(mutant.find, () => mutant.replace),
  )
  try {
    for (const stage of mutant.tests ? [mutant.tests] : [...nearestTests(mutant), ...suite.stages])
      if (!(await tryTests(copy, stage)).isGood) return true
    return false
  } finally {
    writeFileSync(path, source)
  }
}

function nearestTests({ file }: Mutant): string[][] {
  const isPure = file.startsWith('src/domain/') || file.startsWith('src/queue/')
  const tests = NEAREST.flatMap(([files, names]) => (!isPure && files.test(file) ? names.map((name) => `test/worker/${name}`) : []))
  return tests.length === 0 ? [] : [['--project', 'worker', '--bail', '1', ...tests]]
}

function tryTests(copy: string, args: readonly string[], more: readonly string[] = []): Promise<{ isGood: boolean; output: string }> {
  const vitest = join(PROJECT_ROOT, 'node_modules/.bin/vitest')
  // One worker per run, because each core already has a copy.
  const run = spawn(vitest, ['run', '--maxWorkers', '1', ...more, ...args], {
    cwd: copy,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  run.stdout.on('data', (text) => {
    output = (output + text).slice(-SHOWN_CHARS)
  })
  return new Promise((resolve) => run.once('close', (code) => resolve({ isGood: code === 0, output })))
}
