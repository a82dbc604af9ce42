import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect } from 'vitest'
import { shapeErrors } from '../../../support/http/graphql-schema/shape.ts'
import type { TestPlane } from '../plane/plane.ts'

const FOLDER = join(import.meta.dirname, '../../../worker/graphql/documents')
/** The machines of a test are smaller than those for which the documents were recorded. */
const SIZES = /\b(minMemoryInGb|minVcpuCount): \d+/g

/** The variables and texts sent with a recorded document. */
export interface Sent {
  variables?: Record<string, unknown> | null
  /** Inline texts of the document, each with its replacement. */
  inline?: Readonly<Record<string, string>>
  /** Without a key. */
  isAnonymous?: boolean
}

interface Answer {
  status: number
  data?: Record<string, unknown> | null
  errors?: { message: string }[]
}

/** Sends the recorded documents of published clients to a plane, and records which of them it has not sent. */
export class Replay {
  /** `<client>/<name>` of documents that were not sent. */
  readonly unsent = new Set(globSync('*/*.graphql', { cwd: FOLDER }).map((path) => `${dirname(path)}/${basename(path, '.graphql')}`))
  readonly count = this.unsent.size
  private readonly plane: Pick<TestPlane, 'url' | 'apiKey'>

  constructor(plane: Pick<TestPlane, 'url' | 'apiKey'>) {
    this.plane = plane
  }

  /** Sends a document that must succeed in the shape of its selection, and returns its data. The caller states the type. */
  async play<T>(document: string, sent: Sent = {}): Promise<T> {
    const { query, answer } = await this.send(document, sent)
    expect({ document, ...answer }).toEqual({ document, status: 200, data: expect.anything() })
    expect({ document, errors: shapeErrors(query, answer.data) }).toEqual({ document, errors: [] })
    return answer.data as T
  }

  /** Sends a document that is refused, and returns the reason. */
  async refused(document: string, sent: Sent = {}): Promise<string> {
    const { status, errors } = (await this.send(document, sent)).answer
    expect({ document, status, errors }).toEqual({ document, status: 200, errors: [expect.anything()] })
    return errors?.[0]?.message ?? ''
  }

  /** Sends a document unchanged and returns any answer. */
  async send(document: string, { variables, inline = {}, isAnonymous }: Sent = {}): Promise<{ query: string; answer: Answer }> {
    const recorded = readFileSync(join(FOLDER, `${document}.graphql`), 'utf8').replaceAll(SIZES, '$1: 1')
    const query = Object.entries(inline).reduce((text, [from, to]) => {
      if (!text.includes(`"${from}"`)) throw new Error(`${document} has no "${from}"`)
      return text.replaceAll(`"${from}"`, JSON.stringify(to))
    }, recorded)
    this.unsent.delete(document)
    const response = await fetch(`${this.plane.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(!isAnonymous && { Authorization: `Bearer ${this.plane.apiKey}` }) },
      body: JSON.stringify({ query, ...(variables !== undefined && { variables }) }),
    })
    return { query, answer: { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) } }
  }
}
