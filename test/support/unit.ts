// The same for tests that need no platform: the only place where they meet the runner.
export { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
