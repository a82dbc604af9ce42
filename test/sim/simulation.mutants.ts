import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a repeated submit makes another job',
    file: 'src/queue/accept.ts',
    find: "if (verdict === 'repeat' && known) return { repeatOf: known.jobId }",
    replace: '',
  },
  {
    id: 'a late result replaces the end of a job',
    file: 'src/queue/posts.ts',
    find: "if (isEnded(job) || (verdict !== 'accept' && verdict !== 'accept-late')) return 'done'",
    replace: "if (verdict === 'superseded') return 'done'",
  },
  {
    id: 'deadlines of jobs are not applied',
    file: 'src/queue/deadlines.ts',
    find: 'if (!applyJobDeadlines(tx, seq)) deleteCorrupted(tx, seq)',
    replace: '',
  },
  {
    id: 'the row of a removed worker stays',
    file: 'src/queue/workers/outside-calls.ts',
    find: "if (outcome === 'none') recordWorkerGone(tx, worker)",
    replace: "if (outcome === 'none') return",
  },
  {
    id: 'a host of any use is placed on',
    file: 'src/domain/host/placement.ts',
    find: 'if (shape.gpu) failed.push(...failedGpu(request, shape.gpu, host))',
    replace: '',
  },
  {
    id: 'an agent does not report that a stopped workload is gone',
    file: 'src/host-agent/workloads/reconcile.ts',
    find: "return record?.state === 'gone' ? undefined : { type: 'reportGone', id: workload.id }",
    replace: 'return undefined',
  },
  {
    id: 'a worker is never told to stop a job',
    file: 'src/queue/jobs.ts',
    find: 'tx.state.workers.orderStop(job.holder.workerId, job.id, tx.nowMs + STOP_GRACE_MS)',
    replace: '',
  },
  {
    id: 'the end of a job is not notified',
    file: 'src/queue/jobs.ts',
    find: '  if (job.webhook === null) return\n  const input',
    replace: "  if (job.webhook === null || job.state === 'CANCELLED') return\n  const input",
  },
  {
    id: 'a result of a former holder is accepted',
    file: 'src/domain/job/job.ts',
    find: 'const last = sameHolder(job.holder, from)',
    replace: 'const last = job.holder !== null && from.boot.length > 0',
  },
]
