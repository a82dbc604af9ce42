CREATE TABLE `allocations` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`host_id` text NOT NULL,
	`kind` text NOT NULL,
	`owner_id` text NOT NULL,
	`gpu_type_id` text,
	`gpu_count` integer NOT NULL,
	`vcpu` real NOT NULL,
	`memory_mb` integer NOT NULL,
	`disk_gb` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`host_id`) REFERENCES `hosts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `allocations_host` ON `allocations` (`host_id`);--> statement-breakpoint
CREATE INDEX `allocations_owner` ON `allocations` (`owner_id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`permission` text NOT NULL,
	`scopes` text NOT NULL,
	`secret_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`last_used_at` integer,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `api_keys_team` ON `api_keys` (`team_id`);--> statement-breakpoint
CREATE TABLE `endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`config` text NOT NULL,
	`revision` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `endpoints_team_created` ON `endpoints` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `host_gpus` (
	`host_id` text NOT NULL,
	`gpu_type_id` text NOT NULL,
	`cuda_version` text,
	`total` integer NOT NULL,
	`free` integer NOT NULL,
	PRIMARY KEY(`host_id`, `gpu_type_id`),
	FOREIGN KEY (`host_id`) REFERENCES `hosts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "host_gpus_free" CHECK("host_gpus"."free" >= 0)
);
--> statement-breakpoint
CREATE INDEX `host_gpus_type` ON `host_gpus` (`gpu_type_id`,`free`);--> statement-breakpoint
CREATE TABLE `hosts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`data_center_id` text NOT NULL,
	`status` text NOT NULL,
	`public_key_x` text NOT NULL,
	`epoch` integer NOT NULL,
	`inventory` text NOT NULL,
	`vcpu_total` real NOT NULL,
	`vcpu_free` real NOT NULL,
	`memory_mb_total` integer NOT NULL,
	`memory_mb_free` integer NOT NULL,
	`disk_gb_total` integer NOT NULL,
	`disk_gb_free` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer,
	CONSTRAINT "hosts_vcpu" CHECK("hosts"."vcpu_free" >= 0),
	CONSTRAINT "hosts_memory" CHECK("hosts"."memory_mb_free" >= 0),
	CONSTRAINT "hosts_disk" CHECK("hosts"."disk_gb_free" >= 0)
);
--> statement-breakpoint
CREATE INDEX `hosts_status` ON `hosts` (`status`);--> statement-breakpoint
CREATE TABLE `join_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`name` text,
	`data_center_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`used_by_host_id` text
);
--> statement-breakpoint
CREATE TABLE `memberships` (
	`team_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`team_id`, `user_id`),
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `memberships_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE TABLE `quotas` (
	`team_id` text PRIMARY KEY NOT NULL,
	`minute` integer NOT NULL,
	`hour` integer NOT NULL,
	`day` integer NOT NULL,
	`exempt` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "quotas_positive" CHECK("quotas"."minute" > 0 AND "quotas"."hour" > 0 AND "quotas"."day" > 0)
);
--> statement-breakpoint
CREATE TABLE `releases` (
	`endpoint_id` text NOT NULL,
	`version` integer NOT NULL,
	`id` text NOT NULL,
	`created_by_user_id` text,
	`diff` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`endpoint_id`, `version`),
	FOREIGN KEY (`endpoint_id`) REFERENCES `endpoints`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `teams` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`personal_team_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`personal_team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);