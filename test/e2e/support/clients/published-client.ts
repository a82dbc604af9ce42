import type { TestPlane } from '../plane/plane.ts'
import { ClientProcess } from './client-process.ts'

/** A published Python client of GraphQL, pointed at a plane. */
export class PublishedClient {
  private readonly process: ClientProcess

  /** `packages`: a folder whose packages take precedence over those of the interpreter. */
  constructor(
    python: string,
    client: 'runpod' | 'dstack' | 'gpuhunt',
    { url, apiKey }: Pick<TestPlane, 'url' | 'apiKey'>,
    packages?: string,
  ) {
    const settings = { PLANE: url, RUNPOD_API_KEY: apiKey, RUNPOD_API_BASE_URL: url, RUNPOD_ENDPOINT_BASE_URL: `${url}/v2` }
    const path = packages === undefined ? {} : { PYTHONPATH: packages }
    this.process = new ClientProcess(python, ['published_client.py', client], { ...settings, ...path })
  }

  call<T>(name: string, args: readonly unknown[] = [], named: Record<string, unknown> = {}): Promise<T> {
    return this.process.ask({ call: name, args, named })
  }

  stop(): void {
    this.process.stop()
  }
}
