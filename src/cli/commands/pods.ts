import type { Command } from 'commander'
import type { PageRequest } from '../../client/page.ts'
import { PROPOSED } from '../../contract/defaults.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import { type Column, columns } from '../output/columns.ts'
import { act, actLater, collect, duration, examples, noun, plannable, planOne, wholeNumber } from '../session/act.ts'
import { hasName, oldPlane, SORT_OPTION } from '../session/list-options.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { addIngress, addOpen } from './ingress.ts'
import { addLogs } from './logs.ts'

type Pod = Answer<'getPod'>

export const POD_COLUMNS: readonly Column<Pod>[] = [
  ...columns<Pod>('id', 'name', 'status'),
  { name: 'compute', of: ({ gpu, cpu }) => (gpu ? `${gpu.count} x ${gpu.id}` : cpu ? `${cpu.vcpuCount} vCPU ${cpu.id}` : '') },
  { name: 'cost', of: ({ cost }) => cost, as: 'usdPerHour' },
  { name: 'dataCenter', of: ({ dataCenterId }) => dataCenterId },
  ...columns<Pod>('createdAt', 'image'),
  {
    name: 'labels',
    // A plane of an older release sends none.
    of: ({ labels = {} }) =>
      Object.entries(labels)
        .map((label) => label.join('='))
        .join(','),
  },
]
export const POD_LIST = { columns: POD_COLUMNS, idOf: ({ id }: Pod) => id, empty: 'no pods; create one with podplane pods create' }

/** Adds `podplane pods …`. */
export function addPods(program: Command): void {
  const pods = noun(program, 'pods', ['pod'], 'containers, with or without GPUs, that run until you stop them')
  addReads(pods)
  addCreate(pods)
  addChanges(pods)
  addLogs(pods, 'pods ')
  addIngress(pods, 'pods ')
  addOpen(pods, 'pod')
}

interface PodListFlags {
  all?: boolean
  clusters?: boolean
  label?: string[]
  name?: string
  status?: string[]
  sort?: string
}

function addReads(pods: Command): void {
  const list = pods
    .command('list')
    .alias('ls')
    .description('list pods')
    .option('--all', 'show all, not only the first 50')
    .option('--clusters', 'include members of clusters')
    .option('--label <key=value>', 'only pods with this label, or with this key; repeatable, for pods that have all of them', collect)
    .option('--name <text>', 'only pods whose name contains this text')
    .option('--status <status>', 'only pods of this status; repeatable, for pods of any of them', collect)
    .addOption(SORT_OPTION())
  act(list, async (session, { all, clusters, label, name, status, sort }: PodListFlags) => {
    const { api } = session
    const read = (query: PageRequest) => api.listPods({ query: { ...query, includeClusterPods: clusters, label, name, status, sort } })
    const answer = await readPages(session, read, all)
    // A plane that does not know these filters ignores them, and a pipeline would act on all pods.
    const isMeant = (pod: Pod) => (!status || status.includes(pod.status)) && hasName(pod.name, name)
    if (!answer.pods.every(isMeant)) throw oldPlane('pods by name or status', '--name and --status')
    // A plane that does not know labels ignores the filter, and a pipeline would act on all pods.
    if (label && !answer.pods.every((pod) => 'labels' in pod)) {
      throw new CliError(EXIT.REFUSED, 'old_plane', 'the plane is of a release without labels, and cannot filter pods by them', {
        hint: 'update the plane, or list the pods without --label',
      })
    }
    session.out.list(answer, answer.pods, POD_LIST)
  })
  examples(
    list,
    'pods list',
    'pods list --label team=research',
    'pods list --status RUNNING --sort name',
    'pods list --json id,status',
    'pods list -q | xargs -n1 podplane pods stop --yes',
  )
  act(pods.command('get <pod>').description('show a pod'), async (session, _options, id: string) => {
    session.out.record(await session.api.getPod({ path: { id } }), id)
  })
  const why = pods.command('why <pod>').description('explain the state of a pod')
  act(why, async (session, _options, id: string) => {
    const { printExplanation } = await import('../pods/explain.ts')
    printExplanation(session, await session.api.explainPod({ path: { id } }))
  })
  const metrics = pods
    .command('metrics <pod>')
    .description('show the CPU, memory, GPU and network use of a pod')
    .option('--since <time>', 'only samples since this time: a duration such as 1h, or an RFC 3339 time', '1h')
  actLater(metrics, async () => (await import('../pods/metrics.ts')).printMetrics)
  examples(metrics, 'pods metrics <pod>', 'pods metrics <pod> --since 1d --json')
}

function addCreate(pods: Command): void {
  const create = pods
    .command('create [command...]')
    .description('create a pod; the arguments after -- are its command')
    .option('--name <name>', 'name of the pod (default: the name of the image)')
    .option('--image <image>', 'image of its container')
    .option('--gpu <type>', 'a GPU type such as "NVIDIA L4"')
    .option('--gpus <n>', 'number of GPUs', wholeNumber)
    .option('--cpu <flavor>', 'a CPU flavor such as cpu3c, for a pod without GPU')
    .option('--vcpus <n>', `number of vCPUs (default: ${PROPOSED.vcpuCount})`, wholeNumber)
    .option('--disk <gb>', 'size of the container disk', wholeNumber)
    .option('--persistent <gb>', `size of a disk at ${PROPOSED.mountPath} that outlives the container`, wholeNumber)
    .option('--volume <volume:path>', 'network volume, and the path at which it is mounted')
    .option('-p, --port <port>', 'a port such as 8888/http or 22/tcp; repeatable', collect)
    .option('-e, --env <name=value>', 'an environment variable; repeatable', collect)
    .option('--label <key=value>', 'label that lists can be filtered by; repeatable', collect)
    .option('--data-center <id>', 'data center that may run the pod; repeatable, for more choices (default: all data centers)', collect)
    .option('--template <template>', 'a template for the settings that are left out')
    .option('--ssh', 'allow SSH access with your SSH keys')
    .option('--stop-after <duration>', 'stop the pod after this time', duration)
    .option('--terminate-after <duration>', 'terminate the pod after this time', duration)
    .option('--idle-stop <duration>', 'stop the pod when it has been idle for this long', duration)
    .option('--body <json>', 'further fields of the API: JSON, @file, or - for stdin')
    .option('--dry-run', 'show where the pod would run and what it would cost; create nothing')
    .option('--wait', 'wait until the pod is usable: it runs and its ports answer')
  actLater(create, async () => (await import('../pods/new-pod.ts')).createPod, { waits: true })
  examples(
    create,
    'pods create --image python:3.13 --gpu "NVIDIA L4" --ssh --wait',
    'pods create --image builtin/idle --cpu cpu3c --stop-after 8h --idle-stop 30m',
    'pods create --image alpine --cpu cpu3c -- sh -c "echo hello; sleep 600"',
    'pods create --image x --gpu "NVIDIA H200" --gpus 8 --dry-run',
  )
}

function addChanges(pods: Command): void {
  const update = plannable(
    pods
      .command('update <pod>')
      .description('change a pod')
      .requiredOption('--body <json>', 'fields to change: JSON, @file, or - for stdin'),
  )
  act(update, async (session, { body, plan }: { body: string; plan?: boolean }, id: string) => {
    const { readBody } = await import('../core/body.ts')
    const changes = (await readBody(session.io, body)) as Parameters<Session['api']['updatePod']>[0]['body']
    if (plan) return await planOne(session, (query) => session.api.updatePod({ path: { id }, body: changes, query }))
    session.out.done(await session.api.updatePod({ path: { id }, body: changes }), id, `pod ${id} changed`)
  })
  examples(update, `pods update <pod> --body '{"env":{"MODEL":"llama"}}'`)
  for (const [word, effect] of [
    ['start', 'start a stopped pod'],
    ['stop', 'stop a pod; its disks stay'],
    ['restart', 'restart a pod with an empty container disk'],
  ] as const) {
    const action = plannable(
      pods.command(`${word} <pod>`).description(effect).option('--wait', 'wait until the pod has stopped or is usable'),
    )
    act(
      action,
      async (session, options: { wait?: boolean; plan?: boolean }, id: string) =>
        await (await import('../pods/actions.ts')).actOn(session, id, word, options),
      {
        waits: true,
      },
    )
  }
  const remove = plannable(
    pods.command('delete <pods...>').aliases(['rm', 'terminate']).description('terminate pods; their container disks are lost'),
  )
  actLater(remove, async () => (await import('../pods/actions.ts')).deletePods)
  examples(remove, 'pods delete <pod>', 'pods delete --yes $(podplane pods list -q)')
  actLater(
    pods.command('wait <pod>').description('wait until a pod is usable: it runs and its ports answer'),
    async () => (await import('../pods/usable.ts')).waitUsable,
    { waits: true },
  )
  const later = pods.command('stop-after <pod> <duration>').description('stop a pod after this time; "never" cancels the stop')
  actLater(later, async () => (await import('../pods/actions.ts')).stopAfter)
  examples(later, 'pods stop-after <pod> 2h', 'pods stop-after <pod> never')
  const idle = pods
    .command('idle-stop <pod> <duration>')
    .description('stop a pod when it has been idle for this long; "never" turns this off')
  actLater(idle, async () => (await import('../pods/actions.ts')).idleStop)
  examples(idle, 'pods idle-stop <pod> 30m', 'pods idle-stop <pod> never')
}
