BEGIN TRANSACTION;
CREATE TABLE failures (
	call_id VARCHAR(64) NOT NULL, 
	error TEXT NOT NULL, 
	PRIMARY KEY (call_id)
);
CREATE TABLE meta (
	name VARCHAR NOT NULL, 
	value VARCHAR, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('version','1');
CREATE TABLE replies (
	call_id VARCHAR(64) NOT NULL, 
	model VARCHAR NOT NULL, 
	request TEXT NOT NULL, 
	replicate INTEGER NOT NULL, 
	reply TEXT NOT NULL, 
	tokens BIGINT NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	PRIMARY KEY (call_id)
);
INSERT INTO "replies" VALUES('c3feb874193866682b1ba1370bb7c68e63472a7a28cb0410178ff4d5d071ce54','mine','{"choices":[],"endpoint":"openai","messages":[["user","Will it rain?"]],"model":"test","parameters":{"max_tokens":50,"seed":1},"schema":null}',0,'{"text":"As the first server says.","reasoning":"","logprobs":{},"finish_reason":"stop","prompt_tokens":4,"completion_tokens":7,"cached_tokens":0,"seconds":0.008316004999983306,"attempts":1,"cost_usd":0.0,"created_at":"2026-11-22T10:08:19+00:00","served_model":"test"}',11,0.0);
INSERT INTO "replies" VALUES('7a8c18bc43de07f1ad5d611ffda2490f637f7f1b2ffbd788a3ef421fed3cc4f4','mine','{"choices":[],"endpoint":"openai","messages":[["user","Will it snow?"]],"model":"test","parameters":{"max_tokens":50,"seed":1},"schema":null}',0,'{"text":"As the first server says.","reasoning":"","logprobs":{},"finish_reason":"stop","prompt_tokens":4,"completion_tokens":7,"cached_tokens":0,"seconds":0.0018032159999847863,"attempts":1,"cost_usd":0.0,"created_at":"2026-11-22T10:08:19+00:00","served_model":"test"}',11,0.0);
INSERT INTO "replies" VALUES('56db4ddbdcc4e34607df057ae979fba25f0d311cfe73dade80f25a7cc0cdf55f','mine','{"choices":[],"endpoint":"ollama","messages":[["user","Will it rain?"]],"model":"test","parameters":{"context":8192,"max_tokens":50,"seed":1},"schema":null}',0,'{"text":"As the first server says.","reasoning":"","logprobs":{},"finish_reason":"stop","prompt_tokens":4,"completion_tokens":7,"cached_tokens":0,"seconds":0.056819867999934104,"attempts":1,"cost_usd":0.0,"created_at":"2026-11-22T10:08:19+00:00","served_model":"test 0000000000000000000000000000000000000000000000000000000000000000"}',11,0.0);
INSERT INTO "replies" VALUES('1d1391d4b7f78cbb65fe279faea82c9f92f631e59caf461348b386bd777177b1','mine','{"choices":[],"endpoint":"ollama","messages":[["user","Will it snow?"]],"model":"test","parameters":{"context":8192,"max_tokens":50,"seed":1},"schema":null}',0,'{"text":"As the first server says.","reasoning":"","logprobs":{},"finish_reason":"stop","prompt_tokens":4,"completion_tokens":7,"cached_tokens":0,"seconds":0.0020097530000384722,"attempts":1,"cost_usd":0.0,"created_at":"2026-11-22T10:08:19+00:00","served_model":"test 0000000000000000000000000000000000000000000000000000000000000000"}',11,0.0);
CREATE TABLE reservations (
	call_id VARCHAR(64) NOT NULL, 
	tokens BIGINT NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	expires_at FLOAT NOT NULL, 
	PRIMARY KEY (call_id)
);
CREATE TABLE totals (
	name VARCHAR NOT NULL, 
	calls BIGINT NOT NULL, 
	tokens BIGINT NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "totals" VALUES('replies',4,44,0.0);
COMMIT;
