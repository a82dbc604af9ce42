import type { Command } from 'commander'
import { type Column, columns } from '../output/columns.ts'
import { act, actLater, examples, noun, plannable, planOne } from '../session/act.ts'
import type { Answer } from '../session/pages.ts'
import { addOpen } from './ingress.ts'
import { addLogs } from './logs.ts'
import { POD_LIST } from './pods.ts'

type Cluster = Answer<'getCluster'>

const COLUMNS: readonly Column<Cluster>[] = [
  ...columns<Cluster>('id', 'name', 'type'),
  { name: 'pods', of: ({ pods }) => Object.entries(pods.byStatus).map(([status, count]) => `${count} ${status}`) },
  { name: 'compute', of: ({ compute }) => `${compute.podCount} x ${compute.gpuCountPerPod} x ${compute.gpuTypeId}` },
  ...columns<Cluster>('dataCenterId', 'createdAt'),
]

/** Adds `podplane clusters …`. */
export function addClusters(program: Command): void {
  const clusters = noun(program, 'clusters', ['cluster'], 'groups of identical pods on a private network of their own')
  act(clusters.command('list').alias('ls').description('list clusters'), async (session) => {
    const answer = await session.api.listClusters()
    session.out.list(answer, answer.clusters, {
      columns: COLUMNS,
      idOf: ({ id }) => id,
      empty: 'no clusters; create one with podplane clusters create',
    })
  })
  act(clusters.command('get <cluster>').description('show a cluster'), async (session, _options, id: string) => {
    session.out.record(await session.api.getCluster({ path: { id } }), id)
  })
  act(clusters.command('why <cluster>').description('explain the state of a cluster'), async (session, _options, id: string) => {
    const { printExplanation } = await import('../pods/explain.ts')
    printExplanation(session, await session.api.explainCluster({ path: { id } }))
  })
  act(clusters.command('pods <cluster>').description('list the members of a cluster'), async (session, _options, id: string) => {
    const answer = await session.api.listClusterPods({ path: { id } })
    session.out.list(answer, answer.pods, POD_LIST)
  })
  const create = clusters
    .command('create')
    .description('create a cluster')
    .requiredOption('--body <json>', 'fields of the cluster: JSON, @file, or - for stdin')
    .option('--dry-run', 'show where the cluster would run and what it would cost; create nothing')
    .option('--wait', 'wait until all members run')
  actLater(create, async () => (await import('../pods/clusters.ts')).createCluster, { waits: true })
  examples(
    create,
    `clusters create --body '{"name":"sft","type":"TRAINING","image":"docker.io/acme/train:1","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":3}}' --wait`,
  )
  actLater(
    clusters.command('wait <cluster>').description('wait until all members run'),
    async () => (await import('../pods/clusters.ts')).waitForCluster,
    { waits: true },
  )
  const exec = clusters
    .command('exec <cluster> [command...]')
    .description('run a command in all members at once; each output line begins with its member')
  actLater(exec, async () => (await import('../ingress/exec-members.ts')).execInMembers)
  examples(exec, 'clusters exec <cluster> -- nvidia-smi -L')
  addLogs(clusters, 'clusters ', 'cluster')
  addOpen(clusters, 'cluster')
  const rename = clusters.command('rename <cluster> <name>').description('rename a cluster')
  act(rename, async (session, _options, id: string, name: string) => {
    session.out.done(await session.api.updateCluster({ path: { id }, body: { name } }), id, `cluster ${id} is renamed to ${name}`)
  })
  const remove = plannable(clusters.command('delete <cluster>').alias('rm').description('terminate all members of a cluster'))
  act(remove, async (session, { plan }: { plan?: boolean }, id: string) => {
    if (plan) return await planOne(session, (query) => session.api.deleteCluster({ path: { id }, query }))
    await session.confirm(`Delete cluster ${id}? The disks of its members are lost.`)
    await session.api.deleteCluster({ path: { id } })
    session.out.done(undefined, id, `cluster ${id} is deleted`)
  })
}
