import { Problem } from '../../contract/problems.ts'

/** Returns null if a read throws `notFound`: queries answer null for an absent object (GQL-8). */
export async function orNull<Found>(read: () => Promise<Found>): Promise<Found | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem && error.key === 'notFound') return null
    throw error
  }
}
