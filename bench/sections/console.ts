import { chromium } from 'playwright-core'
import { amountRow, median, type Row } from '../report.ts'
import { type BenchPlane, startBenchPlane } from '../setup.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const REQUESTS = 7
const GOAL_MS = 1_500
/** Text of a page that has loaded its data: the pod list of an account without pods. */
const USEFUL = 'No pods yet'

/** Time from opening the console until it is useful: in a fresh browser, and in one with a warm cache. */
export async function measureConsole(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  try {
    const first: number[] = []
    const again: number[] = []
    for (let n = 0; n < REQUESTS; n += 1) {
      const context = await browser.newContext()
      await signIn(context.request, plane)
      const page = await context.newPage()
      const check = async () => {
        const startedAt = performance.now()
        await page.goto(`${plane.url}/console/pods`, { waitUntil: 'commit' })
        await page.getByText(USEFUL).waitFor()
        return performance.now() - startedAt
      }
      first.push(await check())
      again.push(await check())
      await context.close()
    }
    return [
      amountRow(`first useful sight, nothing kept (median of ${REQUESTS})`, median(first), 'ms', { atMost: GOAL_MS }),
      amountRow('the same, scripts kept from before', median(again), 'ms'),
    ]
  } finally {
    await browser.close()
  }
}

interface Poster {
  post(url: string, options: { data: object; headers: Record<string, string> }): Promise<{ status(): number }>
}

async function signIn(request: Poster, { url, apiKey }: BenchPlane): Promise<void> {
  const headers = { 'x-requested-with': 'podplane', origin: url }
  const answer = await request.post(`${url}/console/session`, { data: { key: apiKey }, headers })
  if (answer.status() !== 201) throw new Error(`signing in: ${answer.status()}`)
}
