# docker build --tag moot .     docker run --rm --volume "$PWD:/work" moot run --configfile my.yaml
# apptainer build moot.sif docker-daemon:moot:latest
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
COPY envs/lock.py envs/lock.txt /opt/moot/envs/
RUN python /opt/moot/envs/lock.py show default > /tmp/default.txt \
    && pip install --no-cache-dir --no-deps --require-hashes -r /tmp/default.txt && rm /tmp/default.txt
COPY . /opt/moot
ENV PYTHONPATH=/opt/moot/scripts HOME=/tmp USER=moot
WORKDIR /work
ENTRYPOINT ["python", "-m", "moot.commands.start"]
