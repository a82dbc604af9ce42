import type { Command } from 'commander'
import { PROPOSED } from '../../contract/defaults.ts'
import { type Column, columns } from '../output/columns.ts'
import { act, actLater, collect, examples, noun, plannable, wholeNumber } from '../session/act.ts'
import { hasName, oldPlane, SORT_OPTION } from '../session/list-options.ts'
import { type Answer, readPages } from '../session/pages.ts'
import { addOpen } from './ingress.ts'
import { addLogs } from './logs.ts'

type Endpoint = Answer<'getEndpoint'>

const COLUMNS: readonly Column<Endpoint>[] = [
  ...columns<Endpoint>('id', 'name', 'type'),
  {
    name: 'compute',
    of: ({ gpu, cpu }) =>
      gpu ? `${gpu.count} x ${gpu.pools.join('|')}` : cpu?.map(({ id, vcpuCount }) => `${vcpuCount} vCPU ${id}`).join('|'),
  },
  { name: 'workers', of: ({ workers }) => `${workers.min}-${workers.max}` },
  ...columns<Endpoint>('createdAt', 'image'),
]

/** Adds `podplane endpoints …`. */
export function addEndpoints(program: Command): void {
  const endpoints = noun(program, 'endpoints', ['endpoint', 'serverless', 'sls'], 'job queues with workers that scale with the load')
  addReads(endpoints)
  addChanges(endpoints)
  addReadCommands(endpoints)
  addLogs(endpoints, 'endpoints ')
  addOpen(endpoints, 'endpoint')
  addTry(endpoints)
}

function addReads(endpoints: Command): void {
  act(
    endpoints
      .command('list')
      .alias('ls')
      .description('list endpoints')
      .option('--all', 'show all, not only the first 50')
      .option('--name <text>', 'only endpoints whose name contains this text')
      .addOption(SORT_OPTION()),
    async (session, { all, name, sort }: { all?: boolean; name?: string; sort?: string }) => {
      const { api } = session
      const answer = await readPages(session, (query) => api.listEndpoints({ query: { ...query, name, sort } }), all)
      // A plane that does not know the filter ignores it, and a pipeline would act on all endpoints.
      if (!answer.endpoints.every((endpoint) => hasName(endpoint.name, name))) throw oldPlane('endpoints by name', '--name')
      session.out.list(answer, answer.endpoints, {
        columns: COLUMNS,
        idOf: ({ id }) => id,
        empty: 'no endpoints; create one with podplane endpoints create',
      })
    },
  )
  act(endpoints.command('get <endpoint>').description('show an endpoint'), async (session, _options, id: string) => {
    session.out.record(await session.api.getEndpoint({ path: { id } }), id)
  })
  act(
    endpoints.command('health <endpoint>').description('show the numbers of jobs and workers of an endpoint'),
    async (session, _options, endpointId: string) => {
      session.out.record(await session.api.getQueueHealth({ path: { endpointId } }))
    },
  )
  act(
    endpoints.command('why <endpoint>').description('explain the current workers of an endpoint'),
    async (session, _options, id: string) => {
      const { printExplanation } = await import('../pods/explain.ts')
      printExplanation(session, await session.api.explainEndpoint({ path: { id } }))
    },
  )
}

function addChanges(endpoints: Command): void {
  const create = endpoints
    .command('create')
    .description('create an endpoint')
    .option('--name <name>', 'name of the endpoint (default: the name of the image)')
    .option('--image <image>', 'image of its workers')
    .option('--gpu <pool>', 'a GPU pool such as ADA_24; repeatable, in order of preference', collect)
    .option('--gpus <n>', 'number of GPUs per worker', wholeNumber)
    .option('--cpu <flavor>', 'a CPU flavor such as cpu3c, for workers without GPU')
    .option('--vcpus <n>', `number of vCPUs per worker (default: ${PROPOSED.vcpuCount})`, wholeNumber)
    .option('--min <n>', 'minimum number of workers, running even without jobs', wholeNumber)
    .option('--max <n>', 'maximum number of workers', wholeNumber)
    .option('-e, --env <name=value>', 'an environment variable; repeatable', collect)
    .option('--template <template>', 'a template for the settings that are left out')
    .option('--body <json>', 'further fields of the API: JSON, @file, or - for stdin')
    .option('--wait', 'wait until a worker is ready; without a minimum of workers, do not wait')
  actLater(create, async () => (await import('../endpoints/new-endpoint.ts')).createEndpoint, { waits: true })
  examples(
    create,
    'endpoints create --image registry.example.com/chat:1 --gpu ADA_24 --max 3',
    'endpoints create --image builtin/echo --cpu cpu3c --min 1 --wait',
  )
  const update = plannable(
    endpoints
      .command('update <endpoint>')
      .description('change an endpoint')
      .requiredOption('--body <json>', 'fields to change: JSON, @file, or - for stdin'),
  )
  actLater(update, async () => (await import('../endpoints/change.ts')).updateEndpoint)
  examples(update, `endpoints update <endpoint> --body '{"image":"registry.example.com/chat:2"}' --plan`)
  const scale = plannable(
    endpoints
      .command('scale <endpoint>')
      .description('change the number of workers')
      .option('--min <n>', 'minimum number of workers, running even without jobs', wholeNumber)
      .option('--max <n>', 'maximum number of workers', wholeNumber),
  )
  actLater(scale, async () => (await import('../endpoints/change.ts')).scaleEndpoint)
  examples(scale, 'endpoints scale <endpoint> --min 1 --max 5', 'endpoints scale <endpoint> --max 0 --plan')
  const remove = plannable(endpoints.command('delete <endpoints...>').alias('rm').description('delete endpoints with their jobs'))
  actLater(remove, async () => (await import('../endpoints/change.ts')).deleteEndpoints)
}

function addTry(endpoints: Command): void {
  const attempt = endpoints
    .command('try <endpoint> [input]')
    .description('send a job, print its output as it arrives, and show how long each phase took')
  actLater(attempt, async () => (await import('../endpoints/try.ts')).tryEndpoint, { waits: true })
  examples(
    attempt,
    'endpoints try <endpoint>',
    `endpoints try <endpoint> '{"prompt":"Hello"}'`,
    'endpoints try <endpoint> @input.json --json',
  )
}

function addReadCommands(endpoints: Command): void {
  act(endpoints.command('workers <endpoint>').description('list the workers of an endpoint'), async (session, _options, id: string) => {
    const answer = await session.api.listEndpointWorkers({ path: { id } })
    const shown = columns<(typeof answer.workers)[number]>('id', 'status', 'version', 'gpuTypeId', 'uptimeSeconds', 'startedAt', 'reason')
    session.out.list(answer, answer.workers, {
      columns: shown,
      idOf: (worker) => worker.id,
      empty: 'no workers: one starts when a job arrives',
    })
  })
  act(
    endpoints
      .command('releases <endpoint>')
      .description('list the releases of an endpoint')
      .option('--all', 'show all, not only the first 50'),
    async (session, { all }: { all?: boolean }, id: string) => {
      const { api } = session
      const answer = await readPages(session, (query) => api.listEndpointReleases({ path: { id }, query }), all)
      const shown = [
        ...columns<(typeof answer.releases)[number]>('version', 'source', 'workerCount', 'createdAt'),
        { name: 'changes', of: (release: (typeof answer.releases)[number]) => release.diff.map(({ field }) => field) },
      ]
      session.out.list(answer, answer.releases, {
        columns: shown,
        idOf: ({ version }) => String(version),
        empty: 'no releases',
      })
    },
  )
  act(
    endpoints.command('scaling <endpoint>').description('list the decisions of the scaler and their reasons'),
    async (session, _options, id: string) => {
      const answer = await session.api.listScalingDecisions({ path: { id } })
      const shown = columns<(typeof answer.decisions)[number]>('decidedAt', 'desired', 'current', 'started', 'stopped', 'reason')
      session.out.list(answer, answer.decisions, {
        columns: shown,
        idOf: ({ decidedAt }) => decidedAt,
        empty: 'no decisions',
      })
    },
  )
  const timeline = endpoints
    .command('timeline <endpoint>')
    .description('show the history: workers, decisions of the scaler, releases')
    .option('--since <time>', 'only entries since this time: a duration such as 1h, or an RFC 3339 time', '1h')
  actLater(timeline, async () => (await import('../endpoints/timeline.ts')).printTimeline)
  const rollback = endpoints
    .command('rollback <endpoint> <version>')
    .description('restore the configuration of an earlier release')
    .option('--plan', 'show what would change; change nothing')
  actLater(rollback, async () => (await import('../endpoints/rollback.ts')).rollBack)
  examples(rollback, 'endpoints rollback <endpoint> 3 --plan', 'endpoints rollback <endpoint> 3 --yes')
}
