import type { Command } from 'commander'
import { act, examples, noun, wholeNumber } from '../core/act.ts'
import type { RunFlags } from '../jobs/run-job.ts'
import { columns } from '../output/columns.ts'

/** `podplane jobs …`, and `podplane run`. */
export function addJobs(program: Command): void {
  const jobs = noun(program, 'jobs', ['job'], 'work for endpoints')
  addRun(jobs, 'jobs run')
  addRun(program, 'run')
  const sync = jobs
    .command('runsync <endpoint> [input]')
    .description('run a job, wait for it and print its output')
    .option('--body <json>', 'the whole request: JSON, @file, or - for stdin')
  act(
    sync,
    async (session, flags: RunFlags, endpoint: string, input?: string) =>
      await (await import('../jobs/run-job.ts')).runJob(session, endpoint, input, { ...flags, wait: true }),
    { waits: true },
  )
  addLooks(jobs)
  addChanges(jobs)
}

function addRun(parent: Command, words: string): void {
  const run = parent
    .command('run <endpoint> [input]')
    .description('give an endpoint a job; the input is JSON, @file, or - for stdin')
    .option('--body <json>', 'the whole request, with policy and webhook: JSON, @file, or - for stdin')
    .option('--webhook <url>', 'is told when the job is over')
    .option('--wait', 'until it is over, and print its output')
    .option('--stream', 'print its chunks as they come')
  act(
    run,
    async (session, flags: RunFlags, endpoint: string, input?: string) =>
      await (await import('../jobs/run-job.ts')).runJob(session, endpoint, input, flags),
    {
      waits: true,
    },
  )
  examples(
    run,
    `${words} <endpoint> '{"prompt":"Hello"}' --wait`,
    `${words} <endpoint> @input.json -q`,
    `echo '{"prompt":"Hello"}' | podplane ${words} <endpoint> - --stream`,
  )
}

function addLooks(jobs: Command): void {
  act(jobs.command('get <endpoint> <job>').description('show a job'), async (session, _options, endpointId: string, jobId: string) => {
    session.out.record(await session.api.getJobStatus({ path: { endpointId, jobId } }), jobId)
  })
  const watch = jobs
    .command('watch <endpoint> <job>')
    .alias('wait')
    .description('wait for a job and print its output; exit code 1 unless it COMPLETED')
  act(
    watch,
    async (session, _options, endpoint: string, job: string) => {
      const { printOutcome, waitForJob } = await import('../jobs/watch.ts')
      return printOutcome(session, await waitForJob(session, endpoint, job))
    },
    { waits: true },
  )
  examples(watch, 'jobs watch <endpoint> <job> --timeout 5m', 'jobs watch <endpoint> <job> --json status,output')
  act(
    jobs.command('stream <endpoint> <job>').description('print the chunks of a job as they come'),
    async (session, _options, endpoint: string, job: string) => {
      return await (await import('../jobs/watch.ts')).streamJob(session, endpoint, job)
    },
  )
  const list = jobs
    .command('list <endpoint>')
    .alias('ls')
    .description('list the newest jobs of an endpoint')
    .option('--limit <n>', 'at most so many', wholeNumber, 50)
  act(list, async (session, { limit }: { limit: number }, endpointId: string) => {
    const answer = await session.api.listRequests({ path: { endpointId }, query: { limit } })
    const shown = columns<(typeof answer.requests)[number]>('id', 'status', 'createdAt', 'delayTime', 'executionTime', 'workerId', 'error')
    session.out.list(answer, answer.requests, {
      columns: shown,
      idOf: ({ id }) => id,
      empty: `no jobs; podplane run ${endpointId} '{…}' makes one`,
    })
  })
  const why = jobs.command('why <endpoint> <job>').alias('explain').description('say why a job is where it is')
  act(why, async (session, _options, endpointId: string, jobId: string) => {
    session.out.record(await session.api.explainJob({ path: { endpointId, jobId } }), jobId)
  })
}

function addChanges(jobs: Command): void {
  act(jobs.command('cancel <endpoint> <job>').description('cancel a job'), async (session, _options, endpointId: string, jobId: string) => {
    session.out.done(await session.api.cancelJob({ path: { endpointId, jobId } }), jobId, `job ${jobId} is cancelled`)
  })
  act(
    jobs.command('retry <endpoint> <job>').description('put a FAILED job into the queue again'),
    async (session, _options, endpointId: string, jobId: string) => {
      session.out.done(await session.api.retryJob({ path: { endpointId, jobId } }), jobId, `job ${jobId} is in the queue again`)
    },
  )
  const purge = jobs.command('purge <endpoint>').description('remove all jobs that wait').option('--yes', 'do not ask')
  act(purge, async (session, { yes }: { yes?: boolean }, endpointId: string) => {
    await session.confirm(`Remove all waiting jobs of ${endpointId}?`, yes)
    session.out.record(await session.api.purgeQueue({ path: { endpointId } }))
  })
}
