import type { ApiBody } from '../../client/client.ts'
import { readBody } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'

/** Creates a cluster, or with `--dry-run` prints its placement. Throws `CliError` if a dry run finds that it does not fit. */
export async function createCluster(session: Session, flags: { body: string; dryRun?: boolean; wait?: boolean }): Promise<number> {
  const body = (await readBody(session.io, flags.body)) as ApiBody<'createCluster'>
  if (flags.dryRun) {
    const preview = await session.api.previewCluster({ body })
    session.out.record(preview)
    if (preview.fits) return EXIT.OK
    throw new CliError(EXIT.NO_CAPACITY, 'NO_CAPACITY', `the cluster does not fit: ${preview.missing.join('; ')}`)
  }
  const cluster = await session.api.createCluster({ body })
  if (flags.wait) return await waitForCluster(session, cluster.id)
  session.out.done(
    cluster,
    cluster.id,
    `cluster ${cluster.name} is created; podplane clusters wait ${cluster.id} waits until all members run`,
  )
  return EXIT.OK
}

/** Waits until all members run. */
export async function waitForCluster(session: Session, id: string): Promise<number> {
  const cluster = await untilDone(session, `cluster ${id}`, async () => {
    const now = await session.api.getCluster({ path: { id } })
    const { total, byStatus } = now.pods
    if ((byStatus.ERROR ?? 0) > 0) {
      throw new CliError(
        EXIT.BAD_OUTCOME,
        'member_error',
        `${byStatus.ERROR} of ${total} members are in ERROR; podplane clusters pods ${id}`,
        { resource: `cluster ${id}` },
      )
    }
    if (byStatus.RUNNING === total) return { done: now }
    return {
      why: Object.entries(byStatus)
        .map(([status, count]) => `${count} ${status}`)
        .join(', '),
    }
  })
  session.out.done(cluster, id, `all members of cluster ${id} run`)
  return EXIT.OK
}
