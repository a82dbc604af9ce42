CREATE TABLE `global_volumes` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `global_volumes_team_name` ON `global_volumes` (`team_id`,`name`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`team_id` text NOT NULL,
	`operation` text NOT NULL,
	`key` text NOT NULL,
	`claim` text NOT NULL,
	`fingerprint` text NOT NULL,
	`claimed_at` integer NOT NULL,
	`response` text,
	PRIMARY KEY(`team_id`, `operation`, `key`),
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_claimed` ON `idempotency_keys` (`claimed_at`);--> statement-breakpoint
CREATE TABLE `network_volumes` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`size_gb` integer NOT NULL,
	`data_center_id` text NOT NULL,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `network_volumes_team_created` ON `network_volumes` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `pod_usage` (
	`pod_id` text NOT NULL,
	`version` integer NOT NULL,
	`team_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`cloud` text NOT NULL,
	`gpu_type_id` text,
	`gpu_count` integer NOT NULL,
	`vcpus` real NOT NULL,
	`disk_gb` integer NOT NULL,
	`price_per_hour` real NOT NULL,
	PRIMARY KEY(`pod_id`, `version`)
);
--> statement-breakpoint
CREATE INDEX `pod_usage_team_ended` ON `pod_usage` (`team_id`,`ended_at`);--> statement-breakpoint
CREATE TABLE `pods` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`version` integer NOT NULL,
	`generation` integer NOT NULL,
	`spec` text NOT NULL,
	`keeps_disk` integer NOT NULL,
	`disk_stale` integer NOT NULL,
	`host_lost` integer NOT NULL,
	`status_reason` text,
	`locked` integer NOT NULL,
	`host_id` text NOT NULL,
	`data_center_id` text NOT NULL,
	`cuda_version` text,
	`vcpus` real NOT NULL,
	`memory_mb` integer NOT NULL,
	`public_ip` text,
	`ports` text NOT NULL,
	`ssh_suffix` text NOT NULL,
	`price_per_hour` real NOT NULL,
	`template_id` text,
	`network_volume_id` text,
	`global_volume_id` text,
	`registry_id` text,
	`cluster_id` text,
	`started_at` integer,
	`changed_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pods_team_created` ON `pods` (`team_id`,`created_at`,`id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_host` ON `pods` (`host_id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_network_volume` ON `pods` (`network_volume_id`) WHERE "pods"."network_volume_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_global_volume` ON `pods` (`global_volume_id`) WHERE "pods"."global_volume_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_template` ON `pods` (`template_id`) WHERE "pods"."template_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_registry` ON `pods` (`registry_id`) WHERE "pods"."registry_id" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `registries` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`username_sealed` text NOT NULL,
	`password_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `registries_team_created` ON `registries` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `ssh_keys` (
	`team_id` text PRIMARY KEY NOT NULL,
	`keys` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`is_public` integer NOT NULL,
	`config` text NOT NULL,
	`registry_id` text,
	`revision` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`registry_id`) REFERENCES `registries`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `templates_team_name` ON `templates` (`team_id`,`name`);--> statement-breakpoint
CREATE INDEX `templates_team_created` ON `templates` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `templates_registry` ON `templates` (`registry_id`);--> statement-breakpoint
ALTER TABLE `hosts` ADD `cloud` text DEFAULT 'SECURE' NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordoned_at` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordon_reason` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordon_by` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `draining` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `public_ip` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `lost_at` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `gpu_problems` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
CREATE INDEX `hosts_data_center` ON `hosts` (`data_center_id`);--> statement-breakpoint
ALTER TABLE `join_tokens` ADD `id` text;--> statement-breakpoint
ALTER TABLE `join_tokens` ADD `cloud` text DEFAULT 'SECURE' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `join_tokens_id` ON `join_tokens` (`id`);--> statement-breakpoint
CREATE INDEX `join_tokens_expiry` ON `join_tokens` (`expires_at`);