/** AWS credentials of the plane, and the role that it assumes for ECR tokens. */
export interface AwsIdentity {
  accessKeyId: string
  secretAccessKey: string
  roleArn: string
}

/** `fault`: why ECR delegations cannot be used. */
export type AwsSettings = AwsIdentity | { fault: string }

/** Secrets of the Worker, and its variable for the role. */
export interface AwsVariables {
  AWS_ACCESS_KEY_ID?: string
  AWS_SECRET_ACCESS_KEY?: string
  ECR_ROLE_ARN?: string
}

const ROLE_ARN = /^arn:aws(?:-us-gov)?:iam::[0-9]{12}:role\/[\w+=,.@/-]{1,512}$/

/**
 * Reads the AWS settings for delegations of ECR repositories (REG-6). A role is required: its sessions carry the id of the delegating user,
 * so the owner of a repository can admit one user of this plane and not the others.
 */
export function parseAwsSettings(vars: AwsVariables): AwsSettings {
  const accessKeyId = (vars.AWS_ACCESS_KEY_ID ?? '').trim()
  const secretAccessKey = (vars.AWS_SECRET_ACCESS_KEY ?? '').trim()
  const roleArn = (vars.ECR_ROLE_ARN ?? '').trim()
  const missing = Object.entries({ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ECR_ROLE_ARN: roleArn })
    .filter(([, value]) => value === '')
    .map(([name]) => name)
  if (missing.length > 0) return { fault: `its operator has not set ${missing.join(', ')}` }
  if (!ROLE_ARN.test(roleArn)) return { fault: 'ECR_ROLE_ARN is not the ARN of a role' }
  return { accessKeyId, secretAccessKey, roleArn }
}
