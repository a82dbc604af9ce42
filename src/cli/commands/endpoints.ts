import type { Command } from 'commander'
import type { NewEndpointFlags } from '../endpoints/new-endpoint.ts'
import { type Column, columns } from '../output/columns.ts'
import { act, collect, examples, noun, plannable, wholeNumber } from '../session/act.ts'
import { type Answer, readPages } from '../session/pages.ts'
import { addOpen } from './doors.ts'
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
  const endpoints = noun(program, 'endpoints', ['endpoint', 'serverless', 'sls'], 'queues of jobs with workers that come and go')
  addReads(endpoints)
  addChanges(endpoints)
  addLooks(endpoints)
  addLogs(endpoints, 'endpoints ')
  addOpen(endpoints, 'endpoint')
  addTry(endpoints)
}

function addReads(endpoints: Command): void {
  act(
    endpoints.command('list').alias('ls').description('list endpoints').option('--all', 'more than the first 50'),
    async (session, { all }: { all?: boolean }) => {
      const { api } = session
      const answer = await readPages(session, (query) => api.listEndpoints({ query }), all)
      session.out.list(answer, answer.endpoints, {
        columns: COLUMNS,
        idOf: ({ id }) => id,
        empty: 'no endpoints; podplane endpoints create makes one',
      })
    },
  )
  act(endpoints.command('get <endpoint>').description('show an endpoint'), async (session, _options, id: string) => {
    session.out.record(await session.api.getEndpoint({ path: { id } }), id)
  })
  act(
    endpoints.command('health <endpoint>').description('jobs and workers of an endpoint, counted'),
    async (session, _options, endpointId: string) => {
      session.out.record(await session.api.getQueueHealth({ path: { endpointId } }))
    },
  )
  act(
    endpoints.command('why <endpoint>').description('say why an endpoint has the workers that it has'),
    async (session, _options, id: string) => {
      const { printWhy } = await import('../pods/why.ts')
      printWhy(session, await session.api.explainEndpoint({ path: { id } }))
    },
  )
}

function addChanges(endpoints: Command): void {
  const create = endpoints
    .command('create')
    .description('create an endpoint')
    .option('--name <name>', 'its name (default: that of the image)')
    .option('--image <image>', 'the image of its workers')
    .option('--gpu <pool>', 'a GPU pool such as ADA_24; may be given again, in order of preference', collect)
    .option('--gpus <n>', 'how many GPUs a worker has', wholeNumber)
    .option('--cpu <flavor>', 'a CPU flavor such as cpu3c, for workers without GPU')
    .option('--vcpus <n>', 'how many (default: 2)', wholeNumber)
    .option('--min <n>', 'workers kept without jobs', wholeNumber)
    .option('--max <n>', 'most workers', wholeNumber)
    .option('-e, --env <name=value>', 'an environment variable; may be given again', collect)
    .option('--template <template>', 'a template that fills what is left out')
    .option('--body <json>', 'further members of the API: JSON, @file, or - for stdin')
    .option('--wait', 'until a worker is ready; with no worker kept, until the endpoint is there')
  act(
    create,
    async (session, options: NewEndpointFlags) => await (await import('../endpoints/new-endpoint.ts')).createEndpoint(session, options),
    { waits: true },
  )
  examples(
    create,
    'endpoints create --image registry.example.com/chat:1 --gpu ADA_24 --max 3',
    'endpoints create --image builtin/echo --cpu cpu3c --min 1 --wait',
  )
  const update = plannable(
    endpoints
      .command('update <endpoint>')
      .description('change an endpoint')
      .requiredOption('--body <json>', 'members to change: JSON, @file, or - for stdin'),
  )
  act(
    update,
    async (session, options: { body: string; plan?: boolean }, id: string) =>
      await (await import('../endpoints/change.ts')).updateEndpoint(session, id, options),
  )
  examples(update, `endpoints update <endpoint> --body '{"image":"registry.example.com/chat:2"}' --plan`)
  const scale = plannable(
    endpoints
      .command('scale <endpoint>')
      .description('change how many workers there are')
      .option('--min <n>', 'kept without jobs', wholeNumber)
      .option('--max <n>', 'most at a time', wholeNumber),
  )
  act(
    scale,
    async (session, options: { min?: number; max?: number; plan?: boolean }, id: string) =>
      await (await import('../endpoints/change.ts')).scaleEndpoint(session, id, options),
  )
  examples(scale, 'endpoints scale <endpoint> --min 1 --max 5', 'endpoints scale <endpoint> --max 0 --plan')
  const remove = plannable(
    endpoints.command('delete <endpoints...>').alias('rm').description('delete endpoints with their jobs').option('--yes', 'do not ask'),
  )
  act(
    remove,
    async (session, options: { yes?: boolean; plan?: boolean }, ...given) =>
      await (await import('../endpoints/change.ts')).deleteEndpoints(session, given.flat(), options),
  )
}

function addTry(endpoints: Command): void {
  const attempt = endpoints
    .command('try <endpoint> [input]')
    .description('send a job, print its output as it comes, and say where the time went')
  act(
    attempt,
    async (session, _options, id: string, input?: string) => await (await import('../endpoints/try.ts')).tryEndpoint(session, id, input),
    {
      waits: true,
    },
  )
  examples(
    attempt,
    'endpoints try <endpoint>',
    `endpoints try <endpoint> '{"prompt":"Hello"}'`,
    'endpoints try <endpoint> @input.json --json',
  )
}

function addLooks(endpoints: Command): void {
  act(endpoints.command('workers <endpoint>').description('list the workers of an endpoint'), async (session, _options, id: string) => {
    const answer = await session.api.listEndpointWorkers({ path: { id } })
    const shown = columns<(typeof answer.workers)[number]>('id', 'status', 'version', 'gpuTypeId', 'uptimeSeconds', 'startedAt', 'reason')
    session.out.list(answer, answer.workers, {
      columns: shown,
      idOf: (worker) => worker.id,
      empty: 'no workers: one starts when a job comes',
    })
  })
  act(
    endpoints.command('releases <endpoint>').description('list what has been deployed').option('--all', 'more than the first 50'),
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
        empty: 'nothing has been deployed',
      })
    },
  )
  act(
    endpoints.command('scaling <endpoint>').description('list what the scaler has decided and why'),
    async (session, _options, id: string) => {
      const answer = await session.api.listScalingDecisions({ path: { id } })
      const shown = columns<(typeof answer.decisions)[number]>('decidedAt', 'desired', 'current', 'started', 'stopped', 'reason')
      session.out.list(answer, answer.decisions, {
        columns: shown,
        idOf: ({ decidedAt }) => decidedAt,
        empty: 'it has decided nothing yet',
      })
    },
  )
  const timeline = endpoints
    .command('timeline <endpoint>')
    .description('what happened: workers, decisions of the scaler, releases')
    .option('--since <time>', 'from then on: 1h, or a time of RFC 3339', '1h')
  act(
    timeline,
    async (session, { since }: { since: string }, id: string) =>
      await (await import('../endpoints/timeline.ts')).printTimeline(session, id, since),
  )
  const rollback = endpoints
    .command('rollback <endpoint> <version>')
    .description('deploy again what an earlier release had')
    .option('--yes', 'do not ask')
    .option('--plan', 'say what would change, and change nothing')
  act(
    rollback,
    async (session, options: { yes?: boolean; plan?: boolean }, id: string, version: string) =>
      await (await import('../endpoints/rollback.ts')).rollBack(session, id, version, options),
  )
  examples(rollback, 'endpoints rollback <endpoint> 3 --plan', 'endpoints rollback <endpoint> 3 --yes')
}
