import { Problem } from '../../contract/problems.ts'

/** What is not there is null in a query (GQL-8). */
export async function orNull<Found>(read: () => Promise<Found>): Promise<Found | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem && error.key === 'notFound') return null
    throw error
  }
}
