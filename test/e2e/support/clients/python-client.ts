import { pythonClient } from '../agent/worker-image.ts'
import { ClientProcess } from './client-process.ts'

interface Request {
  call: 'run_sync' | 'run' | 'status' | 'output' | 'stream' | 'cancel' | 'health' | 'purge_queue' | 'terminate_pod'
  input?: Record<string, unknown>
  job?: string
  pod?: string
  /** A key other than the plane's. */
  key?: string
}

/** The public Python client of jobs, pointed at a plane. */
export class PythonClient {
  private readonly process: ClientProcess
  private readonly key: string

  private constructor(process: ClientProcess, key: string) {
    this.process = process
    this.key = key
  }

  static async start({ url, apiKey }: { url: string; apiKey: string }): Promise<PythonClient> {
    const env = { RUNPOD_ENDPOINT_BASE_URL: `${url}/v2`, RUNPOD_API_BASE_URL: url }
    return new PythonClient(new ClientProcess(await pythonClient(), ['python_client.py'], env), apiKey)
  }

  call<T>(endpoint: string, request: Request): Promise<T> {
    return this.process.ask({ endpoint, key: this.key, ...request })
  }

  stop(): void {
    this.process.stop()
  }
}
