import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type ApiClient, createApiClient } from '../../src/client/client.ts'
import { eachItem, type Opened, pageOf, type Rows } from '../../src/client/page.ts'
import type { Pod } from '../../src/contract/pods/pods.ts'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Callers that open one page and show no way to the next one, each with the reason why one page suffices. */
const ONE_PAGE: Readonly<Record<string, string>> = {
  'src/cli/session/pages.ts': 'it says that only the first rows are shown',
  'src/cli/endpoints/timeline.ts': 'it says that only the newest events are shown',
  'src/cli/tools/bundle.ts': 'a sample of the newest for a person who helps',
  'src/console/pages/endpoints/endpoints.tsx': 'the number of shown rows',
  'src/console/pages/endpoints/history/history.tsx': 'its series are complete, and it names the newest events',
  'src/console/pages/home/use-overview.ts': 'a few rows beside counts of the plane',
}

const sources = ['src/cli', 'src/console', 'src/local', 'src/node']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
const source = (file: string) => readFileSync(join(ROOT, file), 'utf8')

describe('[PAG-25] a page of a list', () => {
  it('cannot be used as a whole list', async () => {
    const client: Pick<ApiClient, 'listPods'> = createApiClient('http://127.0.0.1:1', 'k')
    type Answer = Awaited<ReturnType<typeof client.listPods>>
    const closed = (answer: Answer) => {
      // @ts-expect-error: the rows of one page are no array.
      const whole: readonly Pod[] = answer.pods
      // @ts-expect-error: nor can they be iterated.
      return [...answer.pods, whole]
    }
    expect(closed).toBeTypeOf('function')
    const isClosed: Answer['pods'] extends Rows<Pod> ? true : false = true
    const isOpened: Opened<Answer>['pods'] extends Pod[] ? true : false = true
    expect([isClosed, isOpened]).toEqual([true, true])
  })

  it('is read to the end by the position of each next page', async () => {
    const pages = [
      { items: [1, 2], pagination: { nextCursor: 'b', hasNextPage: true } },
      { items: [3], pagination: { nextCursor: null, hasNextPage: false } },
    ]
    const asked: (string | undefined)[] = []
    const read = async ({ cursor }: { cursor?: string }) => {
      asked.push(cursor)
      // Closed as the client closes it.
      return (cursor === undefined ? pages[0] : pages[1]) as unknown as { items: Rows<number>; pagination: (typeof pages)[0]['pagination'] }
    }
    const found: number[] = []
    for await (const item of eachItem(read, 2)) found.push(item)
    expect(found).toEqual([1, 2, 3])
    expect(asked).toEqual([undefined, 'b'])
    expect(pageOf(await read({}))).toEqual({ items: [1, 2], next: 'b' })
  })

  it('is opened with a way to the next one, or where one page suffices', () => {
    const opens = sources.filter((file) => /\b(pageOf|opened)\(/.test(source(file)))
    const withoutNext = opens.filter((file) => !/\bnext\b[^?:]*\} = pageOf\(|\.next !== null|nextOf\(page\)\n/.test(source(file)))
    const listed = Object.keys(ONE_PAGE).filter((file) => opens.includes(file))
    expect(listed).toEqual(Object.keys(ONE_PAGE))
    expect(withoutNext.filter((file) => !(file in ONE_PAGE))).toEqual([])
  })

  it('of v1 and GraphQL is read on, because they have no pages', () => {
    const folders = ['src/http/v1', 'src/http/graphql']
    const files = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    const calls = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => source(file).match(/\b(?:listPods|listEndpoints|listTemplates)\(.*/g) ?? [])
    expect(calls.length).toBeGreaterThan(4)
    expect(calls.filter((call) => !call.includes('cursor'))).toEqual([])
  })
})
