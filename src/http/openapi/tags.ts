/** Tags of REST v2. Each operation of the document has one of them. */
export const REST_TAGS = [
  { name: 'Pods', description: 'Containers with GPUs or vCPUs that run until they are stopped.' },
  { name: 'Clusters', description: 'Pods that are placed together and share a private network.' },
  { name: 'Serverless', description: 'Endpoints: workers that are started for queued jobs and stopped afterwards.' },
  { name: 'Jobs', description: 'The work of an endpoint: submit, wait for, cancel and explain it.' },
  { name: 'Webhooks', description: 'Messages about jobs that have ended: their signing secret and their deliveries.' },
  { name: 'Templates', description: 'Container configurations from which pods and endpoints are created.' },
  { name: 'Volumes', description: 'Storage that outlives pods: of one data center, or of all.' },
  { name: 'Registries', description: 'Access to private images: credentials and delegations.' },
  { name: 'Catalog', description: 'Available hardware, data centers and prices.' },
  { name: 'Billing', description: 'Usage and costs.' },
  { name: 'Account', description: 'Keys, secrets, limits and the audit log of the account.' },
  { name: 'Organizations', description: 'Accounts of several people, and their roles.' },
]

export const ADMIN_TAGS = [
  { name: 'Accounts', description: 'Users, their keys, quotas and budgets.' },
  { name: 'Plans', description: 'Plans: shared limits of accounts.' },
  { name: 'Hosts', description: 'Machines, and their join tokens.' },
  { name: 'Volumes', description: 'Data of deleted volumes that is not wiped yet.' },
  { name: 'Catalog', description: 'The catalog of the plane: hardware, data centers and prices.' },
  { name: 'Audit', description: 'The audit log.' },
  { name: 'Secrets', description: 'Encrypted values of the plane.' },
  { name: 'Plane', description: 'Health of the plane.' },
]
