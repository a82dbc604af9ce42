import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'

// One runtime serves many test files, so each file begins with the clock, modules, objects and tables of a new plane.
const { DB, TEST_MIGRATIONS } = env as unknown as { DB: D1Database; TEST_MIGRATIONS: D1Migration[] }
vi.restoreAllMocks()
vi.unstubAllGlobals()
vi.useRealTimers()
vi.resetModules()
await reset()
await applyD1Migrations(DB, TEST_MIGRATIONS)
