import type { Command } from 'commander'
import type { BulkFlags } from '../jobs/bulk.ts'
import type { RunFlags } from '../jobs/run-job.ts'
import { act, actLater, examples, noun } from '../session/act.ts'

/** Adds `podplane jobs …` and `podplane run`. */
export function addJobs(program: Command): void {
  const jobs = noun(program, 'jobs', ['job'], 'jobs of endpoints')
  addRun(jobs, 'jobs run')
  addRun(program, 'run')
  const sync = jobs
    .command('runsync <endpoint> [input]')
    .description('run a job, wait for it and print its output')
    .option('--body <json>', 'the complete request: JSON, @file, or - for stdin')
  act(
    sync,
    async (session, flags: RunFlags, endpoint: string, input?: string) =>
      await (await import('../jobs/run-job.ts')).runJob(session, endpoint, input, { ...flags, wait: true }),
    { waits: true },
  )
  addReadCommands(jobs)
  addChanges(jobs)
}

function addRun(parent: Command, words: string): void {
  const run = parent
    .command('run <endpoint> [input]')
    .description('send a job to an endpoint; the input is JSON, @file, or - for stdin')
    .option('--body <json>', 'the complete request, with policy and webhook: JSON, @file, or - for stdin')
    .option('--webhook <url>', 'URL that receives a notification when the job ends')
    .option('--wait', 'wait until the job ends and print its output')
    .option('--stream', 'print the output chunks as they arrive')
  actLater(run, async () => (await import('../jobs/run-job.ts')).runJob, { waits: true })
  examples(
    run,
    `${words} <endpoint> '{"prompt":"Hello"}' --wait`,
    `${words} <endpoint> @input.json -q`,
    `${words} <endpoint> - --stream < input.json`,
  )
}

function addReadCommands(jobs: Command): void {
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
  actLater(
    jobs.command('stream <endpoint> <job>').description('print the output chunks of a job as they arrive'),
    async () => (await import('../jobs/watch.ts')).streamJob,
  )
  const list = jobs
    .command('list <endpoint>')
    .alias('ls')
    .description('list the jobs of an endpoint, newest first')
    .option('--all', 'show all, not only the first 50')
    .option('--status <states>', 'only jobs in these states, such as FAILED,TIMED_OUT')
    .option('--since <time>', 'only jobs created since this time: a duration such as 1h, or an RFC 3339 time')
    .option('--id <begin>', 'only jobs whose id begins with this text')
  actLater(list, async () => (await import('../jobs/list.ts')).listJobs)
  examples(list, 'jobs list <endpoint> --status FAILED --since 1d', 'jobs list <endpoint> --all -q')
  const timeline = jobs.command('timeline <endpoint> <job>').description('show the phases, attempts, workers and price of a job')
  actLater(timeline, async () => (await import('../jobs/list.ts')).printTimeline)
  const why = jobs.command('why <endpoint> <job>').alias('explain').description('explain the state of a job')
  act(why, async (session, _options, endpointId: string, jobId: string) => {
    session.out.record(await session.api.explainJob({ path: { endpointId, jobId } }), jobId)
  })
}

function addChanges(jobs: Command): void {
  for (const [action, effect, example] of [
    ['cancel', 'cancel one job, several jobs, or all jobs that the flags match', 'IN_QUEUE'],
    ['retry', 'queue FAILED jobs again: one, several, or all jobs that the flags match', 'FAILED,TIMED_OUT'],
  ] as const) {
    const change = jobs
      .command(`${action} <endpoint> [jobs...]`)
      .description(effect)
      .option('--status <states>', `all jobs in these states, such as ${example}`)
      .option('--since <time>', 'only jobs created since this time: a duration such as 1h, or an RFC 3339 time')
      .option('--until <time>', 'only jobs created before this time')
      .option('--plan', 'show which jobs and how many would change; change nothing')
    act(
      change,
      async (session, flags: BulkFlags, endpoint: string, ...given) =>
        await (await import('../jobs/bulk.ts')).changeJobs(session, action, endpoint, given.flat(), flags),
      { waits: true },
    )
    examples(
      change,
      `jobs ${action} <endpoint> <job>`,
      `jobs ${action} <endpoint> --status ${example} --plan`,
      `jobs ${action} <endpoint> --status ${example} --since 1d --yes`,
    )
  }
  const purge = jobs.command('purge <endpoint>').description('remove all waiting jobs')
  act(purge, async (session, _, endpointId: string) => {
    await session.confirm(`Remove all waiting jobs of ${endpointId}?`)
    session.out.record(await session.api.purgeQueue({ path: { endpointId } }))
  })
  act(
    jobs.command('open <endpoint> <job>').description('print the address of the console page and open the page'),
    async (session, _options, endpointId: string, jobId: string) => {
      const { CONSOLE_PAGES, openPage } = await import('../tools/open.ts')
      return openPage(session, CONSOLE_PAGES.job(endpointId, jobId))
    },
  )
}
