// The same as harness.ts for tests that need no platform.
export { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
