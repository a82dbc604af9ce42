import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

const ENDPOINT = `# The resources that podplane deploy creates. Their fields are those of the API: see docs/cli.md.

[endpoints.hello]
image = "builtin/echo"
cpu = [{ id = "cpu3c", vcpuCount = 2 }]
workers = { min = 0, max = 3, idleTimeout = 5 }

# podplane deploy --wait sends this job and requires that it is COMPLETED.
[endpoints.hello.smoke]
input = { prompt = "Hello" }
timeout = "5m"
`

const WORKER = `# The resources that podplane deploy creates, after the image is built and pushed:
#   docker build -t "$IMAGE" . && docker push "$IMAGE" && podplane deploy --wait

[endpoints.worker]
image = "\${IMAGE}"
cpu = [{ id = "cpu3c", vcpuCount = 2 }]
workers = { min = 0, max = 3, idleTimeout = 5 }

[endpoints.worker.smoke]
input = { name = "podplane" }
timeout = "5m"
`

const HANDLER = `import runpod


def handler(job):
    return {"greeting": f"Hello, {job['input']['name']}!"}


runpod.serverless.start({"handler": handler})
`

const DOCKERFILE = `FROM python:3.13-slim
RUN pip install --no-cache-dir runpod
COPY handler.py /handler.py
CMD ["python", "-u", "/handler.py"]
`

const POD = `# The resources that podplane deploy creates. Their fields are those of the API: see docs/cli.md.

[pods.notebook]
image = "docker.io/library/python:3.13"
cmd = ["python", "-m", "http.server", "8888"]
cpu = { id = "cpu3c", vcpuCount = 2 }
ports = ["8888/http"]
startSsh = true
`

/** Files of each kind; the first one is the podplane.toml. */
export const STARTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  endpoint: { 'podplane.toml': ENDPOINT },
  worker: { 'podplane.toml': WORKER, 'handler.py': HANDLER, Dockerfile: DOCKERFILE },
  pod: { 'podplane.toml': POD },
}

/** Writes the starter files and overwrites none. Throws `CliError` if the kind is unknown or a file exists. */
export function init(session: Session, kind = 'endpoint', { file }: { file: string }): void {
  const starter = STARTERS[kind]
  if (starter === undefined) throw usage(`${kind}: it must be one of ${Object.keys(STARTERS).join(', ')}`)
  const files = Object.entries(starter).map(([name, text]) => ({ path: name === 'podplane.toml' ? file : name, text }))
  const taken = files.find(({ path }) => existsSync(resolve(session.io.cwd, path)))
  if (taken !== undefined)
    throw new CliError(EXIT.REFUSED, 'file_exists', `${taken.path} exists already`, {
      hint: 'choose another path with --file, or move the file',
    })
  for (const { path, text } of files) writeFileSync(resolve(session.io.cwd, path), text)
  session.out.lines(files.map(({ path }) => path))
  session.out.talk('podplane deploy --plan shows what it creates')
}
